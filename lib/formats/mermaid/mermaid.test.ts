/**
 * Mermaid out and in: what comes from a diagram comes back the same, and what is left out is named.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exampleCharts } from "@/lib/seeds/examples";
import { canonicalChart } from "@/lib/statechart/canonical-chart";
import { diagnose } from "@/lib/statechart/diagnose";
import { hasErrors } from "@/lib/statechart/diagnostic";
import type { Chart } from "@/lib/statechart/document";
import { Play } from "@/lib/testing/play-chart";
import { randomChart } from "@/lib/testing/random-chart";
import { exportChart } from "../export-chart";
import { importChart } from "../import-chart";
import { decodeText, encodeText } from "./mermaid-text";

const read = (text: string): Chart => {
  const { chart, diagnostics } = importChart(text);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return chart as Chart;
};
const write = (chart: Chart): string => exportChart(chart, "mermaid").text;
const canonical = (chart: Chart): unknown => JSON.parse(canonicalChart(chart));
const diagram = (...lines: string[]): string => ["stateDiagram-v2", ...lines].join("\n");
const losses = (text: string): string =>
  importChart(text)
    .losses.map(({ message }) => message)
    .join("\n");
const firstProblem = (text: string): string => {
  const [one] = importChart(text, { fileName: "x.mmd" }).diagnostics;
  return `${one?.at.line ?? ""}:${one?.at.column ?? ""} ${one?.code ?? ""}`;
};

describe("Mermaid in, out and in again is the same chart", () => {
  const holds = (text: string, about: string): void => {
    const once = read(text);
    const again = write(once);
    expect(canonical(read(again)), about).toEqual(canonical(once));
    expect(write(read(again)), about).toBe(again);
  };

  test("of 40 random charts drawn as Mermaid, and of the examples", () => {
    for (let seed = 0; seed < 40; seed++) holds(write(randomChart(seed)), `seed ${seed}`);
    for (const { id, chart } of exampleCharts) holds(write(chart), id);
  });

  const id = fc.constantFrom("a", "b", "c", "d.e", "10", "2", "end", "p", "q");
  const line = fc.oneof(
    fc
      .tuple(
        fc.oneof(id, fc.constant("[*]")),
        fc.oneof(id, fc.constant("[*]")),
        fc.constantFrom(
          "",
          " : go",
          " : Coin inserted",
          " : go [ok] / a, b",
          " : [context.x > 1]",
          " : / log 1",
          " : after 5s",
          " : x [n > 0]",
          " : always",
          " : done / assign x = 1",
        ),
      )
      .filter(([from, to]) => from !== "[*]" || to !== "[*]")
      .map(([from, to, label]) => `${from} --> ${to}${label}`),
    id.map((one) => `${one} : entry / beep, log 'x'`),
    id.map((one) => `${one} : some words`),
    id.map((one) => `state "A title" as ${one}`),
    id.map((one) => `${one} : go [ok] / inside`),
    id.map((one) => `note right of ${one} : a note`),
    fc.constantFrom(
      "state c <<choice>>",
      "state f <<fork>>",
      "state j <<join>>",
      "a --> f : go",
      "f --> d.e",
      "f --> b",
      "a --> j",
      "b --> j",
      "j --> q",
      "%% words",
      "direction LR",
      'state "H*" as h',
      "a --> h",
    ),
  );
  const lines = fc.array(line, { minLength: 1, maxLength: 6 });
  const nested = fc
    .tuple(lines, lines, lines, fc.boolean())
    .map(([outer, first, second, parallel]) => [
      ...outer,
      "state p {",
      ...first,
      ...(parallel ? ["--", ...second] : []),
      "}",
    ]);
  test("of random diagrams", () => {
    let imported = 0;
    fc.assert(
      fc.property(fc.oneof(lines, nested), (written) => {
        const text = diagram(...written);
        if (importChart(text).chart === null) return;
        imported++;
        holds(text, text);
      }),
      { numRuns: 400 },
    );
    expect(imported).toBeGreaterThan(200);
  });

  test("any text survives as a label", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 40 }),
        (text) => decodeText(encodeText(text)) === text,
      ),
    );
    fc.assert(
      fc.property(
        fc.string({ maxLength: 40 }),
        (text) => !/[:;"<>\n]/.test(encodeText(text).replace(/#\w+;|<br\/>/g, "")),
      ),
    );
  });
});

describe("what a diagram says", () => {
  test("labels, nesting, regions, choice, history and texts", () => {
    const chart = read(
      diagram(
        "%% a comment",
        "direction LR",
        "[*] --> Idle",
        'state "Waiting for a coin" as Idle',
        "Idle : entry / beep, log 'idle'",
        "Idle --> check : coin [context.n < 3] / assign n = context.n + 1",
        "Idle --> Idle : again",
        "state check <<choice>>",
        "check --> Busy : [enough]",
        "check --> Idle : [else]",
        "state Busy {",
        "  [*] --> A",
        "  A --> B : after 5s",
        "  --",
        "  [*] --> C",
        "  C --> D : next / done it",
        "  D --> [*]",
        "}",
        "Busy --> Off : done",
        "Busy --> Off : Power lost",
        "Off --> [*]",
        "note right of Off",
        "  Gone for good.",
        "end note",
      ),
    );
    expect(chart).toEqual({
      lockstep: 1,
      initial: "Idle",
      states: {
        Idle: {
          description: "Waiting for a coin",
          entry: ["beep", { log: "'idle'" }],
          on: {
            coin: { target: "check", guard: "context.n < 3", actions: { assign: { n: "context.n + 1" } } },
            again: { target: "Idle", reenter: true },
          },
        },
        check: { always: [{ target: "Busy", guard: "enough" }, "Idle"] },
        Busy: {
          type: "parallel",
          onDone: "Off",
          on: { "Power lost": "Off" },
          states: {
            region1: {
              initial: "A",
              states: { A: { id: "A", after: { "5s": "B" } }, B: { id: "B" } },
            },
            region2: {
              initial: "C",
              states: {
                C: { id: "C", on: { next: { target: "D", actions: "done it" } } },
                D: { id: "D", type: "final" },
              },
            },
          },
        },
        Off: { type: "final", description: "Gone for good." },
      },
      guards: { enough: { placeholder: "enough" } },
      actions: { beep: { placeholder: "beep" }, "done it": { placeholder: "done it" } },
    });
  });

  test("arrows without a trigger leave at once, when done, or wait where at once could not work", () => {
    const intro = diagram(
      "[*] --> Still",
      "Still --> [*]",
      "Still --> Moving",
      "Moving --> Still",
      "Moving --> Crash",
      "Crash --> [*]",
    );
    const chart = read(intro);
    expect(chart.states?.Crash).toEqual({ type: "final" });
    expect(chart.states?.Still?.on).toEqual({ end: "end", Moving: "Moving" });
    expect(losses(intro)).toContain("`Still --> Moving` has no label");
    expect(hasErrors(diagnose(chart))).toBe(false);
    const lone = read(
      diagram("[*] --> a", "a --> b", "b --> c : go", "state p {", "[*] --> x", "x --> [*]", "}", "p --> a"),
    );
    expect(lone.states?.a?.always).toBe("b");
    expect(lone.states?.p?.onDone).toBe("a");
  });

  test("a fork enters all its states, a join waits for all its states", () => {
    const text = diagram(
      "[*] --> s",
      "state f <<fork>>",
      "s --> f : go / begin",
      "f --> B",
      "f --> C",
      "state p {",
      "[*] --> A",
      "A --> B : x",
      "--",
      "[*] --> D",
      "D --> C : x",
      "}",
      "state j <<join>>",
      "B --> j",
      "C --> j",
      "j --> t : / finish",
    );
    const chart = read(text);
    expect(chart.states?.s?.on).toEqual({ go: { target: ["#B", "#C"], actions: "begin" } });
    expect(importChart(text).losses).toEqual([]);
    expect(new Play(chart).send("go").value).toBe("t");
    const odd = diagram("[*] --> a", "state j <<join>>", "a --> j", "b --> j", "j --> c");
    expect(losses(odd)).toContain("never active together");
  });

  test("colours, links and floating notes are left out, and that is said", () => {
    const text = diagram("classDef bad fill:red", "[*] --> a:::bad", "class a bad", 'note "on its own" as N');
    expect(Object.keys(read(text).states ?? {})).toEqual(["a"]);
    expect(losses(text)).toMatch(/classDef[^]*|on its own/);
    expect(losses(text)).toContain('"on its own"');
  });

  test("front matter and directives come before the diagram", () => {
    const text = "---\ntitle: door\n---\n%%{init: {'theme': 'dark'}}%%\nstateDiagram-v2\n[*] --> a\n";
    const { name, chart } = importChart(text);
    expect(name).toBe("door");
    expect(chart?.initial).toBe("a");
  });
});

describe("a text that is no diagram is refused by line and column", () => {
  test.each([
    ["a flow chart", "flowchart TD\n a --> b", "1:1 not-mermaid"],
    ["an unknown line", diagram("  [*] --> a", "  a ==> b"), "3:3 bad-mermaid"],
    ["a brace that is not closed", diagram("state a {", "[*] --> b"), "2:1 bad-mermaid"],
    ["a brace too many", diagram("[*] --> b", "}"), "3:1 bad-mermaid"],
    ["a note that is not closed", diagram("note right of a", "words"), "2:1 bad-mermaid"],
    ["from nothing to nothing", diagram("[*] --> [*]"), "2:1 bad-mermaid"],
    ["no state", diagram("direction LR"), "1:1 no-states"],
    ["__proto__", diagram("[*] --> __proto__"), "2:1 bad-id"],
    ["deep braces", diagram(...Array.from({ length: 60 }, (_, n) => `state s${n} {`)), "51:1 too-deep"],
    ["a long line", diagram(`a : ${"x".repeat(20_000)}`), "2:1 too-large"],
    ["many states", diagram(...Array.from({ length: 6_000 }, (_, n) => `s${n}`)), "5002:1 too-large"],
  ])("%s", (_, text, expected) => {
    expect(firstProblem(text)).toBe(expected);
  });
});

describe("Mermaid out", () => {
  test("what Mermaid cannot say is named, and stands in notes", () => {
    const { text, losses: named } = exportChart(
      {
        lockstep: 1,
        initial: "a b",
        context: { n: 0 },
        guards: { rich: "context.n > 1" },
        settings: { errors: "stop" },
        states: {
          "a b": {
            tags: ["t"],
            on: {
              go: {
                target: "c",
                guard: { type: "rich", params: { k: "1" } },
                actions: { raise: { type: "x", data: "1" } },
              },
            },
            invoke: { src: "charge", input: { a: "1" } },
          },
          c: { type: "final", output: "1" },
        },
      },
      "mermaid",
    );
    const messages = named.map(({ message }) => message).join("\n");
    for (const part of [
      "`a_b`",
      "context",
      "settings",
      "rich",
      "tags",
      "raise x",
      "charge",
      "input",
      "output",
    ])
      expect(messages).toContain(part);
    expect(text).toContain("note right of a_b");
    expect(text).toContain('state "a b" as a_b');
  });
});
