/**
 * `lockstep run FILE`: plays a chart in memory on a virtual clock and prints a line after the start, per input line, and
 * for --drain. With --json stdout holds only those lines; everything else goes to stderr.
 */
import { closeSync, createReadStream, openSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import type { Json } from "@/lib/base/json";
import type { Microstep } from "@/lib/statechart/trace";
import { parseInputLine } from "./input-line";
import { loadMachine } from "./load-machine";
import { childChartsOf, reasonOf } from "./read-chart-file";
import { readStubsFile } from "./read-stubs-file";
import { Session, type SessionLine } from "@/lib/play/session";
import { delayMs } from "@/lib/play/stubs";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeLine } from "./write-line";

const drainUntilDefaultMs = 60_000;

export async function run(args: string[]): Promise<ExitCode> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      events: { type: "string" },
      json: { type: "boolean", default: false },
      trace: { type: "boolean", default: false },
      drain: { type: "boolean", default: false },
      until: { type: "string" },
      stubs: { type: "string" },
    },
  });
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new UsageError("run needs exactly one FILE.");
  const untilMs = values.until === undefined ? drainUntilDefaultMs : delayMs(values.until);
  if (untilMs === null)
    throw new UsageError(`--until ${values.until} is no duration: use ms or "60s", "1h30m".`);
  const stubs = values.stubs === undefined ? undefined : readStubsFile(values.stubs).stubs;

  if (values.events !== undefined && values.events !== "-") mustBeReadable(values.events);

  const loaded = loadMachine(file);
  if (loaded === null) return exit.chart;
  const session = new Session(loaded.machine, {
    trace: values.trace,
    findChart: childChartsOf(file),
    ...(loaded.name === null ? {} : { name: loaded.name }),
    ...(stubs === undefined ? {} : { stubs }),
  });
  const print = (line: SessionLine): Promise<void> =>
    writeLine(values.json ? JSON.stringify(line) : inWords(line));
  await print(session.start());
  if (values.events !== undefined) await play(session, values.events, print);
  if (values.drain) await print(session.drain(untilMs));
  return exit.ok;
}

async function play(
  session: Session,
  events: string,
  print: (line: SessionLine) => Promise<void>,
): Promise<void> {
  const input = events === "-" ? process.stdin : createReadStream(events);
  const failed = new Promise<never>((_, reject) => {
    input.on("error", (error: Error) =>
      reject(new UsageError(`${events} cannot be read: ${reasonOf(error)}.`)),
    );
  });
  const lines = createInterface({ input, crlfDelay: Infinity })[Symbol.asyncIterator]();
  for (let number = 1; ; number++) {
    const next = await Promise.race([lines.next(), failed]);
    if (next.done === true) return;
    const text = number === 1 ? next.value.replace(/^\uFEFF/, "") : next.value;
    if (text.trim() === "") continue;
    const line = parseInputLine(text);
    if ("problem" in line)
      throw new UsageError(
        `Line ${number} of ${events === "-" ? "the input" : events} is no input line: ${line.problem}.`,
      );
    await print("advanceMs" in line ? session.advance(line.advanceMs) : session.send(line.type, line.data));
  }
}

/** Said before anything runs: a missing file must not look like a chart without events. */
function mustBeReadable(path: string): void {
  try {
    closeSync(openSync(path, "r"));
    if (statSync(path).isDirectory()) throw new UsageError(`${path} cannot be read: it is a directory.`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
}

function inWords(line: SessionLine): string {
  const { seq, event, outcome, reason, status, configuration, context, log, emitted, output, error } = line;
  const shown = (value: Json): string => JSON.stringify(value);
  return [
    `#${seq} ${event ?? "·"}  ${outcome}${reason === undefined ? "" : ` (${reason})`} → ${status}: ${configuration.join(", ") || "nothing"}`,
    ...(line.microsteps ?? []).map(stepInWords),
    `   context ${shown(context)}`,
    ...log.map(({ label, value }) => `   log ${label === undefined ? "" : `${label}: `}${shown(value)}`),
    ...emitted.map(({ type, data }) => `   emit ${type}${data === undefined ? "" : ` ${shown(data)}`}`),
    ...(output === undefined ? [] : [`   output ${shown(output)}`]),
    ...(error === undefined ? [] : [`   error ${error.code}: ${error.message}`]),
  ].join("\n");
}

function stepInWords({ event, taken, exited, entered, actions }: Microstep): string {
  const parts = [
    taken.length === 0 ? "nothing taken" : taken.join(", "),
    ...(exited.length > 0 ? [`exit ${exited.join(", ")}`] : []),
    ...(entered.length > 0 ? [`enter ${entered.filter((name) => name !== "").join(", ")}`] : []),
    ...actions.map(({ text, error }) => `${text}${error === undefined ? "" : ` failed: ${error}`}`),
  ];
  return `   ${event === null ? "eventless" : event.type}: ${parts.join(" · ")}`;
}
