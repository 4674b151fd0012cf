/**
 * A chart's test: what is sent to it, and what the line after each step has to show. Command line, simulator and the
 * search for paths share the format: `{name, stubs?, steps: [input line + expect?]}`; a first step may be `{expect}`
 * alone, which looks at the start.
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import type { Machine } from "@/lib/statechart/machine";
import { readInputLine, type InputLine } from "./input-line";
import { Session, type SessionLine, type SessionOptions } from "./session";
import { parseStubs, type Stubs } from "./stubs";

export interface ChartTest {
  name: string;
  stubs?: Stubs;
  steps: readonly TestStep[];
}
interface TestStep {
  /** Null: the start. */
  input: InputLine | null;
  expect: JsonObject | null;
}

export interface TestFailure {
  /** From 1. */
  step: number;
  /** Path in the line, e.g. `context.total`. */
  at: string;
  expected: Json;
  /** Undefined: the line has nothing there. */
  found: Json | undefined;
}

const testKeys = ["name", "stubs", "steps"];
const lineKeys: readonly (keyof SessionLine)[] = [
  "seq",
  "event",
  "outcome",
  "reason",
  "status",
  "configuration",
  "value",
  "context",
  "tags",
  "log",
  "emitted",
  "output",
  "error",
  "microsteps",
];

/** One test or a list of them, or what is wrong. */
export function readTests(json: Json): ChartTest[] | { problem: string } {
  const list = Array.isArray(json) ? json : [json];
  if (list.length === 0) return { problem: "the list holds no test" };
  const tests: ChartTest[] = [];
  for (const [index, item] of list.entries()) {
    const test = readTest(item);
    if ("problem" in test) return { problem: `test ${index + 1} ${test.problem}` };
    tests.push(test);
  }
  return tests;
}

function readTest(json: Json): ChartTest | { problem: string } {
  if (!isJsonObject(json)) return { problem: "must be an object {name, stubs?, steps}" };
  const unknown = Object.keys(json).find((key) => !testKeys.includes(key));
  if (unknown !== undefined) return { problem: `has the unknown key "${unknown}"` };
  const { name, stubs, steps } = json;
  if (typeof name !== "string" || name === "") return { problem: "needs a name" };
  if (!Array.isArray(steps) || steps.length === 0)
    return { problem: `("${name}") needs a list of steps, with at least one` };
  const parsed = stubs === undefined ? undefined : parseStubs(stubs);
  if (parsed !== undefined && "problem" in parsed) return { problem: `("${name}"): ${parsed.problem}` };
  const read: TestStep[] = [];
  for (const [index, item] of steps.entries()) {
    const step = readStep(item, index === 0);
    if ("problem" in step) return { problem: `("${name}"), step ${index + 1}: ${step.problem}` };
    read.push(step);
  }
  return { name, ...(parsed === undefined ? {} : { stubs: parsed }), steps: read };
}

function readStep(json: Json, isFirst: boolean): TestStep | { problem: string } {
  if (!isJsonObject(json)) return { problem: 'it must be an object, {"type": …} or {"advance": …}' };
  const { expect, ...rest } = json;
  if (expect !== undefined) {
    if (!isJsonObject(expect)) return { problem: "`expect` must be an object, a part of an output line" };
    const unknown = Object.keys(expect).find((key) => !(lineKeys as readonly string[]).includes(key));
    if (unknown !== undefined) return { problem: `an output line has no "${unknown}"` };
  }
  if (isFirst && expect !== undefined && Object.keys(rest).length === 0) return { input: null, expect };
  const input = readInputLine(rest);
  return "problem" in input ? input : { input, expect: expect ?? null };
}

/** Null: every line was as expected; else the first that was not. */
export function playTest(
  machine: Machine,
  { steps, stubs }: ChartTest,
  options: Omit<SessionOptions, "stubs" | "trace"> = {},
): TestFailure | null {
  const session = new Session(machine, {
    ...options,
    trace: steps.some(({ expect }) => expect?.microsteps !== undefined),
    ...(stubs === undefined ? {} : { stubs }),
  });
  let line = session.start();
  for (const [index, { input, expect }] of steps.entries()) {
    if (input !== null)
      line = "advanceMs" in input ? session.advance(input.advanceMs) : session.send(input.type, input.data);
    // As it would be printed: an absent field is absent.
    const printed = JSON.parse(JSON.stringify(line)) as Json;
    const difference = expect === null ? null : differenceIn(printed, expect, "");
    if (difference !== null) return { step: index + 1, ...difference };
  }
  return null;
}

/** `expected` is a part: keys it does not name are free; a list is whole. */
function differenceIn(found: Json | undefined, expected: Json, at: string): Omit<TestFailure, "step"> | null {
  if (Array.isArray(expected)) {
    if (!Array.isArray(found) || found.length !== expected.length) return { at, expected, found };
    return firstOf(expected.keys(), (index) =>
      differenceIn(found[index], expected[index] ?? null, `${at}[${index}]`),
    );
  }
  if (isJsonObject(expected)) {
    if (!isJsonObject(found)) return { at, expected, found };
    return firstOf(Object.keys(expected), (key) =>
      differenceIn(
        Object.hasOwn(found, key) ? found[key] : undefined,
        expected[key] ?? null,
        at === "" ? key : `${at}.${key}`,
      ),
    );
  }
  return found === expected ? null : { at, expected, found };
}

function firstOf<K, T>(keys: Iterable<K>, look: (key: K) => T | null): T | null {
  for (const key of keys) {
    const found = look(key);
    if (found !== null) return found;
  }
  return null;
}
