/**
 * SCXML out: reading back gives the same chart, and other tools are told what they will not see.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "@/lib/base/canonical";
import type { Json } from "@/lib/base/json";
import { canonicalChart } from "@/lib/statechart/canonical-chart";
import { validateChart } from "@/lib/statechart/validate";
import type { Chart } from "@/lib/statechart/document";
import { Play } from "@/lib/testing/play-chart";
import { Random, randomChart, randomEvents } from "@/lib/testing/random-chart";
import { exportChart } from "../export-chart";
import { importChart } from "../import-chart";

const back = (chart: Chart): Chart => {
  const { text } = exportChart(chart, "scxml");
  const { chart: read, diagnostics } = importChart(text, { fileName: "x.scxml" });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return read as Chart;
};
/** The text around the first difference: a whole diff of two long lines takes minutes. */
const difference = (a: Chart, b: Chart): string | null => {
  const [one, other] = [canonicalChart(a), canonicalChart(b)];
  if (one === other) return null;
  let at = 0;
  while (one[at] === other[at]) at++;
  const from = Math.max(0, at - 60);
  return `${one.slice(from, at + 60)} ≠ ${other.slice(from, at + 60)}`;
};
const expectSame = (chart: Chart): void => expect(difference(chart, back(chart))).toBeNull();

const shown = (play: Play): string => canonicalJson(play.last.snapshot as unknown as Json);

/** Everything the document knows, in every shape it may have. */
const everything: Chart = {
  lockstep: 1,
  id: "order",
  context: {
    n: 1,
    text: 'a < b & "c"\n\u0001',
    now: { cel: "1 + 2" },
    " odd ": null,
    late: null,
    list: [1, "x", { deep: [] }],
  },
  schemas: { events: { pay: { type: "object" } } },
  guards: { rich: "context.n > 1", loop: "loop", open: { placeholder: "open" } },
  actions: { note: { log: "'noted'" }, both: ["note", { placeholder: "ping", text: "ping()" }] },
  delays: { soon: "1s", never: { placeholder: "never" } },
  tasks: { work: { retries: 3 } },
  settings: { selection: "xstate", errors: "stop", index: ["n"] },
  description: "an order",
  meta: { owner: null },
  initial: { target: "#work.two", actions: { raise: { type: "hello" } } },
  on: { "*": {}, "a.*": ".idle", a: [{ target: "#order.idle", guard: "rich", reenter: true }], "x y": [] },
  entry: { log: "context.n", label: "start" },
  states: {
    "10": { on: { go: "2" } },
    "2": { id: "two words", tags: ["busy"], entry: [], exit: "note" },
    idle: { on: { back: "#two words", "2": "10", "10": "2" }, data: { late: "context.n + 1" } },
    work: {
      type: "parallel",
      onDone: [{ target: "end", meta: 1 }],
      states: {
        one: {
          initial: "a",
          states: {
            a: {
              after: {
                "500": "b",
                soon: { target: "b", guard: { not: "rich" } },
                never: ["b"],
                "context.n * 1000": {},
              },
              invoke: [
                {
                  src: "http",
                  id: "call",
                  input: { url: "'https://example.org'" },
                  onDone: { target: "b", actions: "note" },
                  retry: { attempts: 2 },
                },
                {
                  src: { placeholder: "legacy" },
                  onError: [],
                  onEvent: ["b"],
                  finalize: { assign: { n: "_event.data" } },
                },
              ],
            },
            b: {
              entry: [
                { block: [{ log: "1" }] },
                { block: [{ raise: { type: "r", data: { v: "context.n" } } }] },
              ],
              exit: { block: "note" },
              always: [{ guard: { and: ["rich", { in: "two words" }] }, target: "a" }, "c"],
            },
            c: { type: "final", output: { total: "context.n", flat: 3 } },
            h: { type: "history", history: "deep", target: { target: "b", actions: [{ log: "'h'" }] } },
            h2: { history: "shallow" },
          },
        },
        two: {
          initial: ["#x"],
          states: {
            x: {
              id: "x",
              on: {
                act: {
                  actions: [
                    { assign: { n: "context.n + 1", text: "context.n" } },
                    { assign: { "list[0].q": { a: ["'s'", 1] } } },
                    { assign: { n: 5 } },
                    { type: "both", params: { p: "1" } },
                    {
                      send: {
                        to: "#_parent",
                        type: { cel: "'a' + 'b'" },
                        data: "context",
                        delay: "soon",
                        id: "s1",
                        idLocation: "n",
                      },
                    },
                    { send: { to: "instance:7", type: "e", delay: 250, data: { k: 1 } } },
                    { raise: { type: "later", delay: "1h30m", id: { cel: "'i'" } } },
                    { cancel: "s1" },
                    { cancel: { cel: "'s' + '1'" } },
                    { emit: { type: "out", data: "1" } },
                    {
                      if: "rich",
                      then: { log: null },
                      else: { if: "context.n < 2 && true", then: [], else: [{ compensate: true }] },
                    },
                    { foreach: { in: "context.list", item: "it", index: "i", do: [{ log: "it" }, "note"] } },
                    { placeholder: "script", text: "x = 1 < 2;" },
                  ],
                  description: "acts",
                },
              },
            },
          },
        },
      },
    },
    end: { type: "final" },
  },
};

describe("SCXML out", () => {
  test("a chart with everything comes back the same", () => expectSame(everything));

  test("200 random charts come back the same, and the first 8 move the same", () => {
    for (let seed = 0; seed < 200; seed++) {
      const chart = randomChart(seed);
      const again = back(chart);
      expect(difference(chart, again), `seed ${seed}`).toBeNull();
      if (seed >= 8) continue;
      const random = new Random(seed);
      const [a, b] = [new Play(chart), new Play(again)];
      for (let step = 0; step < 10; step++) {
        const type = random.pick(randomEvents);
        const data = { n: random.below(5) };
        for (const play of [a, b]) play.send({ type, data });
        if (random.chance(0.2)) for (const play of [a, b]) play.advance(500);
        expect(shown(b) === shown(a), `seed ${seed}`).toBe(true);
      }
    }
  });

  test("the public SCXML cases come back the same after their import", () => {
    const folder = join(import.meta.dirname, "../../../node_modules/@scion-scxml/test-framework/test");
    const files = (at: string): string[] =>
      readdirSync(at).flatMap((name) => {
        const path = join(at, name);
        return statSync(path).isDirectory() ? files(path) : name.endsWith(".scxml") ? [path] : [];
      });
    let compared = 0;
    for (const path of files(folder)) {
      const { chart } = importChart(readFileSync(path, "utf8"), { fileName: path });
      if (chart === null) continue;
      expect(difference(chart, back(chart)), path).toBeNull();
      compared++;
    }
    expect(compared).toBeGreaterThan(100);
  });

  test("any texts survive: names, expressions, data", () => {
    const word = fc.oneof(
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.constantFrom("'", "]]>", "&lt;", " a ", "\r\n", "\ud800"),
    );
    fc.assert(
      fc.property(word, word, word, fc.jsonValue(), (name, cel, event, data) => {
        const key = name.replaceAll("#", "") || "k";
        if (key === "__proto__") return;
        expectSame({
          lockstep: 1,
          context: {
            data: JSON.parse(JSON.stringify(data).replaceAll("__proto__", "p")) as never,
            [key]: cel,
          },
          states: {
            [key]: {
              id: key,
              on: {
                [event]: { guard: cel, actions: [{ assign: { [key]: cel } }, { log: cel, label: event }] },
              },
              meta: name,
            },
          },
        });
      }),
      { numRuns: 300 },
    );
  });

  test("what other tools will not see is named", () => {
    const { losses } = exportChart(everything, "scxml");
    const messages = losses.map(({ message }) => message).join("\n");
    for (const part of [
      "schemas",
      "`tasks`",
      "selection",
      "tags",
      "several values at once",
      "`emit out`",
      "`compensate`",
      "invocation of `http`",
      "two words",
      "with parameters",
      "instance:7",
      "`never`",
    ])
      expect(messages).toContain(part);
  });

  test("a chart from SCXML is written as plain SCXML again", () => {
    const text = `<scxml xmlns="http://www.w3.org/2005/07/scxml" datamodel="cel" initial="a">
      <datamodel><data id="x" expr="1"/></datamodel>
      <state id="a"><transition event="go" cond="context.x &lt; 2" target="b"><assign location="x" expr="context.x + 1"/></transition></state>
      <final id="b"/></scxml>`;
    const { chart } = importChart(text);
    const written = exportChart(chart as Chart, "scxml");
    expect(written.losses).toEqual([]);
    expect(written.text).toContain('<transition event="go.*" target="b" cond="context.x &lt; 2">');
    expect(written.text.match(/ls:\w+=/g)).toEqual(["ls:version=", "ls:chart="]);
  });

  test("attributes of ours that hold no JSON, or no chart, are refused with their place", () => {
    const text = exportChart(everything, "scxml").text;
    const broken = importChart(text.replace(/ls:chart="[^"]*"/, 'ls:chart="{"'));
    expect(broken.chart).toBeNull();
    expect(broken.diagnostics[0]).toMatchObject({ code: "bad-attribute", at: { line: 2 } });
    const wrong = importChart(text.replace(/ls:chart="[^"]*"/, 'ls:chart="{&quot;settings&quot;: 5}"'));
    expect(wrong.chart).toBeNull();
  });

  test("hostile attributes of ours end in a chart or in reasons, quickly, and touch nothing else", () => {
    const { text } = exportChart(everything, "scxml");
    const attributes = [...new Set([...text.matchAll(/ ls:(\w+)="/g)].map(([, name]) => name ?? ""))];
    expect(attributes.length).toBeGreaterThan(6);
    const values = [
      "null",
      "0",
      '""',
      "[]",
      "{}",
      "[[[[null]]]]",
      '"#"',
      '"__proto__"',
      '{"__proto__": {"polluted": 1}}',
      '{"constructor": {"prototype": {"polluted": 1}}}',
      '{"states": {"__proto__": {}}, "id": 5, "on": [], "entry": {"assign": {"__proto__": "1"}}}',
      '{"target": 5, "guard": [], "actions": {"type": 1}}',
      `${"[".repeat(5_000)}`,
      `"${"x".repeat(300_000)}"`,
      `{"a": ${JSON.stringify(Array.from({ length: 20_000 }, (_, n) => n))}}`,
      "version",
      "",
    ];
    for (const name of attributes)
      for (const value of values) {
        const escaped = value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
        const began = process.cpuUsage();
        const result = importChart(
          text.replaceAll(new RegExp(` ls:${name}="[^"]*"`, "g"), ` ls:${name}="${escaped}"`),
        );
        const { user, system } = process.cpuUsage(began);
        const about = `${name}: ${value.slice(0, 40)}`;
        expect((user + system) / 1000, about).toBeLessThan(2_000);
        expect(result.chart === null, about).toBe(
          result.diagnostics.some(({ severity }) => severity === "error"),
        );
        if (result.chart !== null) expect(validateChart(result.chart).diagnostics, about).toEqual([]);
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      }
  });
});
