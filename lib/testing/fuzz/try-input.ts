/**
 * One hostile input through everything that would meet it: readers, checks, the engine, sessions, writers.
 *
 * Holds: throws exactly when something was found: an untyped error, a broken promise of a reader, a polluted prototype.
 */
import { assert, AssertionError } from "@/lib/base/assert";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import { layout as layoutSchema } from "@/lib/contract/charts";
import { placeMissing } from "@/lib/diagram/complete-layout";
import { emptyLayout, type Layout } from "@/lib/diagram/layout";
import { guessWidth } from "@/lib/diagram/measure";
import { buildScene, type Scene } from "@/lib/diagram/scene";
import { exportChart } from "@/lib/formats/export-chart";
import { importChart } from "@/lib/formats/import-chart";
import { parseJson } from "@/lib/formats/parse-json";
import { writeSvg } from "@/lib/formats/svg/write-svg";
import { playTest, readTests } from "@/lib/play/chart-test";
import { readInputLine } from "@/lib/play/input-line";
import { Session } from "@/lib/play/session";
import { delayMs, parseStubs } from "@/lib/play/stubs";
import { canonicalChart } from "@/lib/statechart/canonical-chart";
import { EvaluationFailure } from "@/lib/statechart/cel/evaluation-failure";
import { compile } from "@/lib/statechart/compile";
import { parseDelay } from "@/lib/statechart/delay";
import { diagnose } from "@/lib/statechart/diagnose";
import { hasErrors } from "@/lib/statechart/diagnostic";
import type { Chart } from "@/lib/statechart/document";
import { formatLocation, parseLocation, writeAt } from "@/lib/statechart/location";
import type { Machine } from "@/lib/statechart/machine";
import { validateChart } from "@/lib/statechart/validate";
import { Random, randomChart, randomEvents } from "../random-chart";
import type { FuzzInput } from "./fuzz-input";

/** A loop of messages is cut short here: its bound is another test's matter. */
const stepsMax = 300;
const drawnArrowsMax = 8;

export function tryInput({ kind, text, seed }: FuzzInput): void {
  const random = new Random(seed ^ 0x5bd1e995);
  switch (kind) {
    case "lockstep":
    case "xstate":
      tryImport(text, "chart.json", random);
      break;
    case "scxml":
      tryImport(text, "chart.scxml", random);
      break;
    case "mermaid":
      tryImport(text, "chart.mmd", random);
      break;
    case "source":
      tryImport(text, "machine.ts", random);
      break;
    case "document":
      tryDocument(text, random);
      break;
    case "cel":
      tryChart(chartWith(text), random);
      break;
    case "lines":
      tryLine(text);
      break;
    case "layout":
      tryLayout(text);
      break;
    case "stubs":
      tryStubs(text);
      break;
    case "delay":
      tryDelay(text, random);
      break;
    case "location":
      tryLocation(text);
      break;
  }
  mustBeClean();
}

function tryImport(text: string, fileName: string, random: Random): void {
  const result = importChart(text, { fileName, load: () => null });
  assert(
    (result.chart === null) === hasErrors(result.diagnostics),
    "an import answers with a chart exactly when no diagnostic is an error",
  );
  if (result.chart === null) return;
  mustBeOwn(result.chart);
  const { diagnostics } = validateChart(JSON.parse(JSON.stringify(result.chart)));
  assert(!hasErrors(diagnostics), `an imported chart is valid: ${diagnostics[0]?.message ?? ""}`);
  tryChart(result.chart, random);
}

function tryDocument(text: string, random: Random): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  const { chart, diagnostics } = validateChart(value);
  assert(
    (chart === null) === hasErrors(diagnostics),
    "a document is a chart exactly when no diagnostic is an error",
  );
  if (chart !== null) tryChart(chart, random);
}

/** Not everything with every chart: more charts in the same time find more. */
function tryChart(chart: Chart, random: Random): void {
  if (random.chance(0.4)) diagnose(chart);
  const machine = compiled(chart);
  if (machine !== null && random.chance(0.6)) trySession(machine, random);
  if (random.chance(0.05)) {
    canonicalChart(chart);
    const { text } = exportChart(
      chart,
      random.pick(["lockstep", "scxml", "xstate", "mermaid", "module"] as const),
    );
    assert(typeof text === "string", "an export is a text");
  }
  if (random.chance(0.01)) tryDrawing(buildScene(chart), emptyLayout);
}

/** Routes of a dense drawing take seconds, whatever its texts are: only small ones are drawn. */
function tryDrawing(scene: Scene, layout: Layout): void {
  if (scene.arrows.length <= drawnArrowsMax)
    writeSvg(scene, placeMissing(scene, layout, guessWidth), guessWidth);
}

function compiled(chart: Chart): Machine | null {
  try {
    return compile(chart);
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

const isRefusal = (error: unknown): boolean => error instanceof LockstepError && error.code !== "internal";

function trySession(machine: Machine, random: Random): void {
  const stubs = parseStubs({ work: [{ output: 1 }, { error: "no" }] });
  const session = new Session(machine, {
    stepsMax,
    trace: random.chance(0.3),
    input: { n: 1 },
    ...("problem" in stubs ? {} : { stubs }),
  });
  mustBeOwn(session.start());
  for (let left = 3; left > 0; left--) {
    const event = random.chance(0.6) ? eventOf(machine, random) : random.pick(randomEvents);
    const data = random.pick(payloads);
    mustBeOwn(data === undefined ? session.send(event) : session.send(event, data));
  }
  mustBeOwn(session.advance(2_000));
}

function eventOf(machine: Machine, random: Random): string {
  const handlers = random.pick(machine.ordered).handlers;
  return handlers.length === 0 ? "go" : random.pick(handlers).descriptor.replace("*", "x");
}

const payloads: readonly (Json | undefined)[] = [
  undefined,
  { n: 2 },
  null,
  [1, "x", null],
  // `__proto__` stops at every door (parse-json, read-body); its relatives come in.
  { n: -1, constructor: { prototype: { polluted: 1 } }, toString: "x", then: null, length: -1 },
  "text",
  1e300,
];

/** `text` where a guard, a value, a delay and a location's value stand. */
function chartWith(text: string): Chart {
  return {
    lockstep: 1,
    context: { x: 1, log: [1, 2], s: "a", at: { cel: text } },
    initial: "s1",
    states: {
      s1: {
        entry: [{ assign: { x: text } }, { log: text }],
        on: {
          e0: [
            {
              guard: text,
              target: "s2",
              actions: [{ assign: { "log[0]": text } }, { raise: { type: "i0", data: text } }],
            },
          ],
        },
        after: { [text === "" ? "1s" : text]: "s2" },
      },
      s2: { output: text },
    },
  };
}

const sampleMachine = compile(randomChart(3));

function tryLine(text: string): void {
  const parsed = parseJson(text);
  if (!parsed.ok) return;
  const line = readInputLine(parsed.value);
  if ("problem" in line) return;
  const session = new Session(sampleMachine, { stepsMax });
  session.start();
  mustBeOwn(
    "advanceMs" in line
      ? session.advance(Math.min(line.advanceMs, 10_000))
      : session.send(line.type, line.data),
  );
}

function tryStubs(text: string): void {
  const parsed = parseJson(text);
  if (!parsed.ok) return;
  parseStubs(parsed.value);
  const tests = readTests(parsed.value);
  if ("problem" in tests) return;
  for (const test of tests) playTest(sampleMachine, test, { stepsMax });
}

function tryLayout(text: string): void {
  const parsed = parseJson(text);
  if (!parsed.ok) return;
  const read = layoutSchema.safeParse(parsed.value);
  if (!read.success) return;
  tryDrawing(drawnScene, read.data as Layout);
}

const drawnScene = buildScene({
  lockstep: 1,
  initial: "s1",
  states: {
    s1: { on: { e0: "s2" }, initial: "k0", states: { k0: {}, k1: {} } },
    s2: { type: "parallel", states: { a: {}, b: {} } },
  },
});

function tryDelay(text: string, random: Random): void {
  const ms = parseDelay(text);
  assert(ms === null || (Number.isSafeInteger(ms) && ms >= 0), `a delay is whole ms or none, not ${ms}`);
  assert(delayMs(text) === ms, "the command line reads a delay as the chart does");
  if (random.chance(0.05)) tryChart(chartWith(text), random);
}

function tryLocation(text: string): void {
  const path = parseLocation(text);
  if (path === null) return;
  const again = parseLocation(formatLocation(path));
  assert(JSON.stringify(again) === JSON.stringify(path), "a location reads back as it is written");
  try {
    mustBeOwn(writeAt({ a: { b: 1 }, rows: [1] }, path, 1));
  } catch (error) {
    // What an action's failure is made of.
    if (!(error instanceof EvaluationFailure)) throw error;
  }
}

/** No key `__proto__` of its own anywhere, and nothing that JSON does not know. */
function mustBeOwn(value: unknown): void {
  const stack: unknown[] = [value];
  for (let left = 20_000; left > 0 && stack.length > 0; left--) {
    const one = stack.pop();
    if (typeof one === "bigint" || typeof one === "function" || typeof one === "symbol")
      throw new AssertionError(`a result holds a ${typeof one}`);
    if (typeof one === "number") assert(Number.isFinite(one), `a result holds ${one}`);
    if (typeof one !== "object" || one === null) continue;
    assert(!Object.hasOwn(one, "__proto__"), "a result has a key __proto__");
    const prototype: unknown = Object.getPrototypeOf(one);
    assert(
      prototype === Object.prototype || prototype === Array.prototype || prototype === null,
      "a result's prototype is its own",
    );
    stack.push(...Object.values(one as Record<string, unknown>));
  }
}

const builtin = [Object.prototype, Array.prototype, Function.prototype, Map.prototype, String.prototype];
const keysBefore = builtin.map((prototype) => Reflect.ownKeys(prototype).length);

function mustBeClean(): void {
  assert(
    builtin.every((prototype, index) => Reflect.ownKeys(prototype).length === keysBefore[index]),
    "a built-in prototype has a new key",
  );
}
