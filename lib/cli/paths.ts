/**
 * `lockstep paths FILE`: ways through a chart, as words or as tests for `lockstep test`. What was found and what was not goes
 * to stderr, so that stdout can become NAME.test.json.
 */
import { parseArgs } from "node:util";
import { isJsonObject, type JsonObject } from "@/lib/base/json";
import type { PathInput } from "@/lib/play/explore";
import { paths as findPaths, type PathKind, type PathsResult, type PathTest } from "@/lib/play/paths";
import { loadMachine } from "./load-machine";
import { childChartsOf } from "./read-chart-file";
import { readStubsFile } from "./read-stubs-file";
import { testsBeside } from "./test";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeLine } from "./write-line";

const kinds: readonly string[] = ["shortest", "simple", "coverage"] satisfies PathKind[];

export async function paths(args: string[]): Promise<ExitCode> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      kind: { type: "string", default: "shortest" },
      json: { type: "boolean", default: false },
      stubs: { type: "string" },
    },
  });
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new UsageError("paths needs exactly one FILE.");
  if (!kinds.includes(values.kind))
    throw new UsageError(`--kind ${values.kind} is none of ${kinds.join(", ")}.`);
  const stubs = values.stubs === undefined ? undefined : readStubsFile(values.stubs).json;
  const loaded = loadMachine(file);
  if (loaded === null) return exit.chart;
  const { machine, name } = loaded;
  const result = findPaths(machine, {
    kind: values.kind as PathKind,
    tests: testsBeside(file),
    findChart: childChartsOf(file),
    ...(stubs === undefined ? {} : { stubs }),
    ...(name === null ? {} : { name }),
  });
  await writeLine(values.json ? JSON.stringify(result.tests, null, 2) : result.tests.map(inWords).join("\n"));
  process.stderr.write(`${summary(result)}\n`);
  return exit.ok;
}

function inWords({ name, stubs, steps }: PathTest): string {
  return [`${name}${failing(stubs)}`, ...steps.map(stepInWords)].join("\n");
}

function stepInWords({ expect, ...input }: PathTest["steps"][number]): string {
  return `   ${inputInWords(input)} → ${expect.configuration.join(", ") || "nothing"}`;
}

function inputInWords(input: Partial<PathInput>): string {
  if ("advance" in input) return `wait ${input.advance} ms`;
  if (!("type" in input)) return "start";
  return `${input.type}${input.data === undefined ? "" : ` ${JSON.stringify(input.data)}`}`;
}

/** Work that fails is what sets two paths with the same inputs apart. */
function failing(stubs: JsonObject = {}): string {
  const names = Object.entries(stubs).flatMap(([name, list]) =>
    Array.isArray(list) && list.some((one) => isJsonObject(one) && one.error !== undefined) ? [name] : [],
  );
  return names.length === 0 ? "" : `, when ${names.join(" and ")} fails`;
}

function summary({ tests, situations, taken, untaken, bound }: PathsResult): string {
  const of = taken.length + untaken.length;
  return [
    `${tests.length} path${tests.length === 1 ? "" : "s"}, ${situations} situations; ${taken.length} of ${of} transitions taken`,
    ...untaken.map((id) => `not taken: ${id}`),
    ...(bound === null ? [] : [`The search was cut short: there are more ${more[bound]} than it looks at.`]),
  ].join("\n");
}

const more: Record<Exclude<PathsResult["bound"], null>, string> = {
  states: "situations",
  depth: "inputs one after the other",
  inputs: "ways",
  time: "timers far ahead",
  paths: "paths",
};
