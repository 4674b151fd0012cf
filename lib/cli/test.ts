/**
 * `lockstep test FILE…`: plays tests on their charts. FILE is a chart, whose tests lie beside it in NAME.test.json, or such a
 * file of tests. Exit 1 when a test fails or a chart cannot be run.
 */
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Json } from "@/lib/base/json";
import { parseJson } from "@/lib/formats/parse-json";
import { playTest, readTests, type ChartTest, type TestFailure } from "@/lib/play/chart-test";
import { loadMachine } from "./load-machine";
import { childChartsOf, reasonOf } from "./read-chart-file";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeLine } from "./write-line";

const testsEnding = /\.tests?\.json$/i;
const chartEndings = [".json", ".xstate.json", ".scxml", ".xml"];

export async function test(args: string[]): Promise<ExitCode> {
  const { values, positionals: files } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: "boolean", default: false } },
  });
  if (files.length === 0) throw new UsageError("test needs at least one FILE.");
  // All are read first: a wrong file must not show after half of the results.
  const suites = files.map((file) => findSuite(file));
  let [passed, failed, broken] = [0, 0, false];
  for (const { chart, tests } of suites) {
    const loaded = loadMachine(chart);
    if (loaded === null) {
      broken = true;
      continue;
    }
    const { machine, name } = loaded;
    const options = { findChart: childChartsOf(chart), ...(name === null ? {} : { name }) };
    for (const one of tests) {
      const failure = playTest(machine, one, options);
      if (failure === null) passed++;
      else failed++;
      await writeLine(values.json ? jsonLine(chart, one, failure) : inWords(chart, one, failure));
    }
  }
  if (!values.json) await writeLine(`${passed} passed, ${failed} failed`);
  return failed > 0 || broken ? exit.chart : exit.ok;
}

/** The tests that lie beside a chart; none where there is no such file. */
export function testsBeside(chart: string): ChartTest[] {
  const file = testFileOf(chart);
  return file === undefined ? [] : readTestFile(file);
}

const stemOf = (chart: string): string => chart.replace(/(?:\.xstate)?\.[^./\\]*$/, "");

const testFileOf = (chart: string): string | undefined =>
  [`${stemOf(chart)}.test.json`, `${stemOf(chart)}.tests.json`].find((path) => existsSync(path));

function findSuite(file: string): { chart: string; tests: ChartTest[] } {
  if (!testsEnding.test(file)) {
    const stem = stemOf(file);
    const found = testFileOf(file);
    if (found === undefined)
      throw new UsageError(
        `${file} has no tests: put them beside it in ${stem}.test.json, a list of {name, stubs?, steps}.`,
      );
    return { chart: file, tests: readTestFile(found) };
  }
  const stem = file.replace(testsEnding, "");
  const charts = chartEndings.map((ending) => stem + ending).filter((path) => existsSync(path));
  const [chart] = charts;
  if (chart === undefined)
    throw new UsageError(
      `${file}: there is no chart beside it: ${chartEndings.map((end) => stem + end).join(", ")}.`,
    );
  if (charts.length > 1)
    throw new UsageError(`${file}: which chart? ${charts.join(", ")} lie beside it; name one instead.`);
  return { chart, tests: readTestFile(file) };
}

function readTestFile(file: string): ChartTest[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${reasonOf(error)}.`);
  }
  const parsed = parseJson(text.replace(/^\uFEFF/, ""));
  if (!parsed.ok)
    throw new UsageError(`${file}:${parsed.at.line}:${parsed.at.column}: not JSON: ${parsed.message}.`);
  const tests = readTests(parsed.value);
  if ("problem" in tests) throw new UsageError(`${file}: ${tests.problem}.`);
  return tests;
}

function jsonLine(chart: string, { name }: ChartTest, failure: TestFailure | null): string {
  return JSON.stringify({ chart, name, ok: failure === null, ...failure });
}

function inWords(chart: string, { name }: ChartTest, failure: TestFailure | null): string {
  if (failure === null) return `ok      ${chart}: ${name}`;
  const { step, at, expected, found } = failure;
  const shown = (value: Json | undefined): string =>
    value === undefined ? "nothing" : JSON.stringify(value);
  return `FAILED  ${chart}: ${name}\n        step ${step}, ${at}: expected ${shown(expected)}, found ${shown(found)}`;
}
