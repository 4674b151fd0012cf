/**
 * Documents mutated at random: an import answers, in time, with a valid chart or with reasons.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hasErrors } from "@/lib/statechart/diagnostic";
import { diagnose } from "@/lib/statechart/diagnose";
import { validateChart } from "@/lib/statechart/validate";
import { importChart } from "./import-chart";

const examples = join(import.meta.dirname, "../../examples");
const seeds = [
  readFileSync(join(examples, "microwave.scxml"), "utf8"),
  `<scxml xmlns="http://www.w3.org/2005/07/scxml" datamodel="ecmascript" binding="late" initial="a"><script>x = 1</script>
<datamodel><data id="x" expr="1"/><data id="y">[1, 2]</data></datamodel>
<state id="a"><invoke type="scxml" id="i" idlocation="x"><content><scxml><final/></scxml></content><param name="p" expr="x"/><finalize/></invoke>
<onentry><if cond="x == 1"><raise event="e"/><elseif cond="y[0] &lt; 2"/><log expr="x"/><else/><cancel sendidexpr="x"/></if>
<foreach array="y" item="z" index="i"><assign location="x" expr="x + z"/></foreach>
<send eventexpr="'e'" target="#_internal" delay="1s" namelist="x y"><param name="q" location="y"/></send></onentry>
<history id="h" type="deep"><transition target="b"/></history><state id="b"><transition event="e f.*" cond="!(x &gt; 1)" target="c"/></state>
<final id="c"><donedata><content expr="{a: x}"/></donedata></final></state></scxml>`,
  JSON.stringify({
    id: "m",
    initial: "a",
    context: { n: 1, e: "{{ n }}" },
    states: {
      a: {
        on: {
          GO: [
            {
              target: "#m.b",
              guard: "ready",
              actions: [{ type: "xstate.assign", params: { assignment: { n: 2 } } }],
            },
          ],
          "*": "b",
          "x.*": { target: ".c" },
        },
        after: { "1000": "b", PT1H: "b" },
        initial: "c",
        states: { c: {} },
      },
      b: {
        type: "parallel",
        states: { p: { type: "final" }, q: { type: "history", history: "deep" } },
        invoke: { src: "work", onDone: "a", onError: { target: "a" } },
      },
    },
  }),
  JSON.stringify({
    lockstep: 1,
    initial: "a",
    context: { n: 1 },
    states: {
      a: { on: { go: { target: "b", guard: "context.n > 0", actions: { assign: { n: "context.n + 1" } } } } },
      b: { type: "final" },
    },
  }),
  `---
title: seed
---
stateDiagram-v2
  [*] --> a
  state "A title" as a
  a : entry / beep, log context.n
  a --> p : go [context.n > 1] / assign n = context.n + 1
  state p {
    [*] --> q
    q --> r : after 5s
    --
    state c <<choice>>
    c --> d : [ok]
    c --> e
  }
  p --> [*] : done
  note right of a
    words
  end note
`,
  `import { setup, assign } from "xstate";
const wait = 60 * 1000;
export const m = setup({ guards: { ok: ({ context }) => context.n > 1 }, delays: { soon: wait } }).createMachine({
  id: "m", initial: "a", context: { n: 1 },
  states: {
    a: { entry: ["beep", () => {}], on: { GO: { target: "b", guard: "ok", actions: assign({ n: 2 }) } }, after: { soon: "b" } },
    ...{ b: { type: "final" as const } },
  },
});
`,
];

const pieces = fc.constantFrom(
  ...[
    '"',
    "<",
    ">",
    "{",
    "}",
    "[",
    "]",
    "&",
    "&amp;",
    "'",
    "\\",
    "\0",
    "\ud800",
    "</state>",
    "<state>",
    "null",
    "-1",
    "1e400",
    "[]",
    "{}",
    "true",
    ":",
    ",",
    "__proto__",
    "constructor",
    "*",
    ".",
    "#",
    "{{ x }}",
    "]]>",
    "<!--",
    "<![CDATA[",
    " --> ",
    "--",
    "[*]",
    "\nstate x {\n",
    "<<fork>>",
    "#58;",
  ],
);
type Mutation = { at: number; cut: number; insert: string; copyFrom: number; copyLength: number };
const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(4_000),
  cut: fc.oneof(fc.constant(0), fc.nat(30)),
  insert: fc.oneof(fc.constant(""), pieces, fc.string({ maxLength: 8 })),
  copyFrom: fc.nat(4_000),
  copyLength: fc.oneof(fc.constant(0), fc.nat(200)),
});

function mutate(text: string, mutations: Mutation[]): string {
  return mutations.reduce((result, { at, cut, insert, copyFrom, copyLength }) => {
    const from = at % (result.length + 1);
    const source = copyFrom % (result.length + 1);
    const copy = result.slice(source, source + copyLength);
    return result.slice(0, from) + insert + copy + result.slice(from + cut);
  }, text);
}

/** JSON values in odd places: each seed's value at a random path is replaced. */
const strange = fc.constantFrom<unknown>(
  null,
  0,
  -1,
  "",
  "x",
  "#",
  "{{ e }}",
  [],
  {},
  true,
  [null],
  { type: 1 },
  { target: 5 },
  { placeholder: "p" },
  "__proto__",
  [[["a"]]],
);
function replaceAt(value: unknown, path: number[], by: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null) return by;
  if (Array.isArray(value)) {
    if (value.length === 0) return by;
    return value.map((item: unknown, index) =>
      index === step % value.length ? replaceAt(item, rest, by) : item,
    );
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return by;
  return Object.fromEntries(
    entries.map(([key, item], index) => [
      key,
      index === step % entries.length ? replaceAt(item, rest, by) : (item as unknown),
    ]),
  );
}

function check(text: string): void {
  const began = process.cpuUsage();
  const result = importChart(text);
  const { user, system } = process.cpuUsage(began);
  // Processor time: the machine may be busy with others.
  expect((user + system) / 1000).toBeLessThan(1_000);
  expect(result.chart === null).toBe(hasErrors(result.diagnostics));
  if (result.chart === null) return;
  // What comes out is a chart like any other: it survives JSON and the engine's own checks.
  const again: unknown = JSON.parse(JSON.stringify(result.chart));
  expect(validateChart(again).diagnostics).toEqual([]);
  diagnose(result.chart);
}

test("a mutated text never throws and never takes a second", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...seeds),
      fc.array(mutation, { minLength: 1, maxLength: 4 }),
      (seed, mutations) => {
        check(mutate(seed, mutations));
      },
    ),
    { numRuns: 1_500 },
  );
});

test("JSON with a strange value anywhere never throws", () => {
  const json = seeds.filter((seed) => seed.startsWith("{")).map((seed) => JSON.parse(seed) as unknown);
  fc.assert(
    fc.property(
      fc.constantFrom(...json),
      fc.array(fc.nat(20), { maxLength: 9 }),
      strange,
      (seed, path, by) => {
        check(JSON.stringify(replaceAt(seed, path, by)));
      },
    ),
    { numRuns: 1_500 },
  );
});
