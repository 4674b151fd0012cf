/**
 * Machines in TypeScript and JavaScript source: what is data is taken over, what is code is kept as text, nothing runs.
 */
import { describe, expect, test } from "vitest";
import { canonicalChart } from "@/lib/statechart/canonical-chart";
import { exampleCharts } from "@/lib/seeds/examples";
import { Play } from "@/lib/testing/play-chart";
import { exportChart } from "../export-chart";
import { importChart } from "../import-chart";

const read = (text: string, fileName = "m.ts") => importChart(text, { fileName });
const problem = (text: string): string => {
  const [one] = read(text).diagnostics;
  return `${one?.at.line ?? ""}:${one?.at.column ?? ""} ${one?.code ?? ""}`;
};

const source = `import { setup, assign, raise, and, not, stateIn, fromPromise } from "xstate";
type Events = { type: "GO"; n: number } | { type: "STOP" };
const second = 1_000;
const shared = { STOP: ".off" } as const;
const isBig = ({ event }: { event: Events }) => event.type === "GO" && event.n > 3;
export const machine = setup({
  types: {} as { context: { n: number }; events: Events },
  guards: { ok: ({ context }) => context.n > 1, both: and(["ok", not(stateIn("#far"))]) },
  actions: { bump: assign({ n: ({ context }) => context.n + 1 }), beep: () => console.log("beep"), again: raise({ type: "GO", n: 1 }, { delay: 5 * second }) },
  delays: { soon: 2 * second, later: ({ context }) => context.n },
  actors: { load: fromPromise(async () => 1) },
}).createMachine({
  id: "m",
  context: ({ input }) => ({ n: 0, at: input.at, list: [1, -2, \`x\`] }),
  initial: "off",
  on: { ...shared },
  states: {
    off: {
      entry: ["beep", () => { globalThis.ran = true; }],
      on: { GO: [{ target: "on", guard: "ok", actions: ["bump", assign({ n: 5 })] }, { guard: isBig, target: "#far" }] },
      after: { soon: "on", [second]: { target: "far" } },
    },
    on: { invoke: { src: "load", onDone: { target: "far", actions: assign(({ event }) => ({ n: event.output })) } } },
    ["far"]: { id: "far", type: "final" as const },
  },
} satisfies object);
export default machine;
`;

describe("a machine in source", () => {
  test("literals, constants, XState's own functions and named parts are data; functions are placeholders with their text", () => {
    const { chart, diagnostics, placeholders, name, format } = read(source);
    expect(diagnostics).toEqual([]);
    expect({ name, format }).toEqual({ name: "m", format: "xstate" });
    expect(chart?.context).toEqual({ n: 0, at: null, list: [1, -2, "x"] });
    expect(chart?.guards).toEqual({
      ok: { placeholder: "ok", text: "({ context }) => context.n > 1" },
      both: { and: ["ok", { not: { in: "far" } }] },
    });
    expect(chart?.actions).toEqual({
      bump: [{ assign: { n: { placeholder: "function", text: "({ context }) => context.n + 1" } } }],
      beep: { placeholder: "beep", text: '() => console.log("beep")' },
      again: [{ raise: { type: "GO", data: { n: 1 }, delay: 5000 } }],
    });
    expect(chart?.delays).toEqual({
      soon: 2000,
      later: { placeholder: "later", text: "({ context }) => context.n" },
    });
    expect(chart?.on).toEqual({ STOP: ".off" });
    const { off, on } = chart?.states ?? {};
    expect(off?.entry).toEqual(["beep", { placeholder: "action", text: "() => { globalThis.ran = true; }" }]);
    expect(off?.on).toEqual({
      GO: [
        { target: "on", guard: "ok", actions: ["bump", { assign: { n: 5 } }] },
        {
          target: "#far",
          guard: {
            placeholder: "guard",
            text: '({ event }: { event: Events }) => event.type === "GO" && event.n > 3',
          },
        },
      ],
    });
    expect(Object.keys(off?.after ?? {})).toEqual(["1000", "soon"]);
    expect(on?.invoke).toMatchObject([{ src: { placeholder: "load" } }]);
    expect(placeholders).toBe(9);
    expect(new Play(chart ?? { lockstep: 1 }).value).toBe("off");
    expect((globalThis as { ran?: unknown }).ran).toBeUndefined();
  });

  test.each([
    [
      "JavaScript without a name",
      `const m = createMachine({ initial: "a", states: { a: { on: { x: "b" } }, b: {} } });`,
      "",
    ],
    [
      "a CommonJS module",
      `module.exports = require("xstate").createMachine({ initial: "a", states: { a: {}, b: {} } });`,
      "m.cjs",
    ],
    [
      "XState 4",
      `export default Machine({ initial: "a", states: { a: { on: { x: { target: "b", cond: (c) => c.n > 1 } } }, b: {} } })`,
      "m.js",
    ],
    [
      "TSX",
      `const View = () => <p>hi</p>;\nexport const m = createMachine({ initial: "a", states: { a: {}, b: {} } });`,
      "m.tsx",
    ],
    [
      "a config of its own",
      `const config = { initial: "a", states: { a: {}, b: {} } };\nexport const m = createMachine(config, { guards: {} });`,
      "m.ts",
    ],
  ])("%s", (_, text, fileName) => {
    const { chart, diagnostics } = read(text, fileName);
    expect(diagnostics).toEqual([]);
    expect(Object.keys(chart?.states ?? {})).toEqual(["a", "b"]);
  });

  test("the modules that Lockstep writes are read back, state by state", () => {
    for (const { chart } of exampleCharts) {
      const { chart: back, diagnostics } = read(exportChart(chart, "module").text);
      expect(diagnostics).toEqual([]);
      expect(canonicalChart(back ?? { lockstep: 1 }).length).toBeGreaterThan(500);
    }
  });
});

describe("source that cannot be read as data is refused by line and column", () => {
  const machine = (inside: string): string =>
    `import { createMachine } from "xstate";\ncreateMachine({\n  ${inside}\n});`;
  test.each([
    ["no machine", "export const x = 1;", "1:1 no-machine"],
    ["two machines", `createMachine({});\n  createMachine({});`, "2:3 many-machines"],
    ["no program", "createMachine({ initial: ", "1:26 bad-source"],
    ["states by a function", machine("states: makeStates()"), "3:11 code-in-machine"],
    ["an unknown spread", machine("...base, states: {}"), "3:6 code-in-machine"],
    ["a computed key", machine("states: { [name()]: {} }"), "3:14 code-in-machine"],
    ["a getter", machine('get initial() { return "a" }, states: {}'), "3:3 code-in-machine"],
    ["__proto__", machine("states: { __proto__: { a: {} } }"), "3:13 code-in-machine"],
    ["'__proto__'", machine("states: { ['__proto__']: { a: {} } }"), "3:13 code-in-machine"],
    ["a machine that is code", "createMachine(load())", "1:15 code-in-machine"],
    ["a constant that names itself", "const a = { states: { x: a } };\ncreateMachine(a);", "1:26 too-deep"],
    [
      "deep nesting",
      `createMachine({ states: ${"{ a: { states: ".repeat(200)}{}${" } }".repeat(200)} })`,
      /^1:\d+ (?:too-deep|bad-source)$/,
    ],
    ["deeper nesting", `createMachine(${"[".repeat(100_000)}`, /bad-source$/],
    [
      "a machine of many values",
      `const l = [${"1,".repeat(1000)}];\nconst m = [${"...l,".repeat(1000)}];\ncreateMachine({ context: { m: m, n: m } })`,
      /too-large$/,
    ],
  ])("%s", (_, text, expected) => {
    const began = process.cpuUsage();
    expect(problem(text)).toMatch(expected);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(2_000);
    expect(read(text).chart).toBeNull();
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });
});
