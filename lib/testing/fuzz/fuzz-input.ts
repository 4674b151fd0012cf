/**
 * One hostile input from a seed: a text of some kind, made from a good one by mutation, or from pieces that mean something
 * to its reader.
 *
 * Holds: the same seed gives the same input, so that a finding is its number.
 */
import { exportChart } from "@/lib/formats/export-chart";
import { emptyLayout } from "@/lib/diagram/layout";
import { Random, randomChart } from "../random-chart";
import { sampleTexts } from "./sample-texts";

export const fuzzKinds = [
  "lockstep",
  "scxml",
  "xstate",
  "mermaid",
  "source",
  "document",
  "cel",
  "lines",
  "layout",
  "stubs",
  "delay",
  "location",
] as const;
export type FuzzKind = (typeof fuzzKinds)[number];

export interface FuzzInput {
  kind: FuzzKind;
  text: string;
  /** Where what follows the reading (which events, which export) draws from. */
  seed: number;
}

/** What a chart's own text is worth beside expressions, which are cheap: charts take most of the time, not of the count. */
const weights: readonly FuzzKind[] = [
  ...(["lockstep", "scxml", "xstate", "mermaid", "source", "document"] as const),
  ...([
    "cel",
    "cel",
    "cel",
    "cel",
    "lines",
    "lines",
    "layout",
    "stubs",
    "delay",
    "delay",
    "location",
  ] as const),
];

export function fuzzInput(seed: number): FuzzInput {
  const random = new Random(seed);
  const kind = random.pick(weights);
  return { kind, text: textOf(random, kind), seed };
}

function textOf(random: Random, kind: FuzzKind): string {
  switch (kind) {
    case "cel":
      return random.chance(0.3)
        ? mutated(random, expression(random, 0), celPieces)
        : expression(random, random.below(3));
    case "delay":
      return random.chance(0.5)
        ? mutated(random, random.pick(delays), delayPieces)
        : piecesOf(random, delayPieces, 8);
    case "location":
      return random.chance(0.5)
        ? mutated(random, random.pick(locations), locationPieces)
        : piecesOf(random, locationPieces, 12);
    case "lines":
      return mutatedJson(random, random.pick(lines));
    case "stubs":
      return mutatedJson(random, random.pick(stubs));
    case "layout":
      return mutatedJson(random, random.pick(layouts));
    case "document":
      return mutatedJson(random, random.pick(corpus().lockstep));
    case "lockstep":
    case "xstate": {
      const text = random.pick(corpus()[kind]);
      return random.chance(0.5) ? mutatedJson(random, text) : mutated(random, text, jsonPieces);
    }
    case "scxml":
      return mutated(random, random.pick(corpus().scxml), xmlPieces);
    case "mermaid":
      return random.chance(0.7)
        ? mutated(random, random.pick(sampleTexts.mermaid), mermaidPieces)
        : `stateDiagram-v2\n${piecesOf(random, mermaidPieces, 40)}`;
    case "source":
      return mutated(random, random.pick(sampleTexts.source), sourcePieces);
  }
}

// ---- good texts

// What is read in a fraction of a millisecond; large texts are other tests' matter.
const smallChars = 4_000;

let texts: Record<"lockstep" | "scxml" | "xstate", string[]> | null = null;

function corpus(): Record<"lockstep" | "scxml" | "xstate", string[]> {
  if (texts !== null) return texts;
  const charts = Array.from({ length: 200 }, (_, seed) => randomChart(seed + 1))
    .filter((chart) => JSON.stringify(chart).length < smallChars)
    .slice(0, 12);
  const written = (format: "scxml" | "xstate"): string[] =>
    charts.map((chart) => exportChart(chart, format).text);
  // Small ones by hand show more of what a format has; random ones are larger.
  texts = {
    lockstep: [
      ...sampleTexts.lockstep,
      ...sampleTexts.lockstep,
      ...charts.map((chart) => JSON.stringify(chart)),
    ],
    scxml: [...sampleTexts.scxml, ...sampleTexts.scxml, ...written("scxml")],
    xstate: [...sampleTexts.xstate, ...sampleTexts.xstate, ...written("xstate")],
  };
  return texts;
}

const lines = [
  '{"type":"e0","data":{"n":3}}',
  '{"type":"a.b","data":[1,{"x":[true,null]}]}',
  '{"advance":"1h30m"}',
  '{"advance":250}',
];
const stubs = [
  '{"work":[{"after":"1s","output":{"n":1}},{"error":{"code":"c","message":"m"}}]}',
  '{"name":"t","stubs":{"work":[{"output":1}]},"steps":[{"expect":{"status":"running"}},{"type":"e0","data":1,"expect":{"context":{"x":1}}},{"advance":5}]}',
];
const layouts = [
  JSON.stringify(emptyLayout),
  '{"direction":"right","states":{"s1":{"x":0,"y":0,"w":100,"h":40},"s2":{"x":200,"y":10,"w":300,"h":90}},"routes":{"s1#on/e0/0":{"points":[{"x":1,"y":2},{"x":3,"y":4}],"label":{"x":0,"y":0,"w":9,"h":9}}}}',
];
const delays = ["1h30m", "PT1H30M", "P1Y2M3DT4H5M6.7S", ".5s", "250", "10ms", "1d"];
const locations = ["zone.eta", "rows[2].qty", "a['b c'].d", 'm["k"]'];

// ---- mutation

const names = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "then",
  "length",
  "valueOf",
];
const anywhere = [
  "",
  " ",
  "\n",
  "\t",
  "\0",
  "\ud800",
  "\uFEFF",
  "\u2028",
  "é",
  "𝒳",
  "-1",
  "0",
  "1e400",
  "9".repeat(40),
];
const jsonPieces = [
  ...names.map((name) => `"${name}":{},`),
  ...anywhere,
  '"',
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  "null",
  "true",
  "\\",
  "\\u0000",
  "{{ x }}",
  "*",
  "#",
  ".",
  '"lockstep":1,',
  '"id":"a",',
];
const xmlPieces = [
  ...anywhere,
  "<",
  ">",
  "&",
  "&amp;",
  "&#x0;",
  "&#1114112;",
  "&lol;",
  "<!DOCTYPE x [<!ENTITY a 'b'>]>",
  "]]>",
  "<!--",
  "-->",
  "<![CDATA[",
  "<?x?>",
  "</state>",
  "<state>",
  "<state id='a'>",
  "<parallel>",
  "<history/>",
  "<final/>",
  "<transition/>",
  " id='__proto__'",
  " expr='",
  " xmlns='urn:x'",
  "<data id='constructor' expr='1'/>",
  "<script>",
  "'",
  '"',
  "/>",
];
const mermaidPieces = [
  ...anywhere,
  "\n",
  "\n",
  "[*]",
  " --> ",
  "-->",
  "a",
  "b",
  "c",
  "state ",
  "state a {",
  "}",
  "--",
  "<<choice>>",
  "<<fork>>",
  "<<join>>",
  " : ",
  "ev",
  " [x > 1]",
  " / act",
  "note right of a",
  "end note",
  'state "long name" as d',
  "direction LR",
  "%%",
  "---",
  "classDef x fill:#fff",
  "class a x",
  ":::x",
  "stateDiagram-v2",
  "__proto__",
  "constructor",
  "#",
  '"',
  "accTitle: t",
  "%%{init: {}}%%",
  "hide empty description",
];
const sourcePieces = [
  ...anywhere,
  "createMachine(",
  "setup({",
  "}).createMachine(",
  "{",
  "}",
  "(",
  ")",
  "[",
  "]",
  ",",
  ":",
  "=>",
  "...x",
  "`",
  "${x}",
  "//",
  "/*",
  "*/",
  "/a+/",
  "import x from 'y';",
  "export default ",
  "const ",
  "as const",
  "satisfies X",
  "<T>",
  "!",
  "assign(",
  "function f() {",
  "process.exit()",
  "require('fs')",
  "__proto__: {},",
  "['constructor']: 1,",
  "get x() { return 1 },",
  "'",
  '"',
  "async ",
  "await ",
  "class A { static { } }",
  "enum E { A }",
  "@d",
  "eval('1')",
];
const celPieces = [
  ...names,
  ...anywhere,
  "context",
  ".x",
  "event",
  "[0]",
  "['a']",
  "(",
  ")",
  "{",
  "}",
  "[",
  "]",
  "+",
  "-",
  "*",
  "/",
  "%",
  "==",
  "!=",
  "<",
  "&&",
  "||",
  "!",
  "?",
  ":",
  "in",
  ".map(x, x)",
  ".all(x, x > 1)",
  ".filter(i, true)",
  ".exists_one(i, i)",
  "has(event.x)",
  "size(",
  "matches('(a+)+$')",
  "r'\\d'",
  "b'x'",
  '"""',
  "'",
  "\\",
  "1u",
  "1.0",
  "0x1F",
  "timestamp('2020-01-01T00:00:00Z')",
  "duration('1h')",
  "In('s1')",
  "set(context, 'a.b', 1)",
  "unset(context, 'x')",
  "merge(context, {})",
  "type(",
  "dyn(",
  "string(",
  "int(",
  "double(",
  "cel.bind(",
  "optional.of(",
  "?.x",
];
const delayPieces = [
  ...anywhere,
  "P",
  "T",
  "1",
  "2",
  ".",
  "h",
  "m",
  "s",
  "ms",
  "d",
  "w",
  "Y",
  "M",
  "D",
  "H",
  "S",
  "e",
  "-",
  "+",
  "999999999999",
  "PT",
  "Infinity",
  "NaN",
];
const locationPieces = [
  ...names,
  ...anywhere,
  "a",
  "b",
  ".",
  "[",
  "]",
  "[0]",
  "['",
  "']",
  '["',
  '"]',
  "[-1]",
  "[4294967295]",
  "[1e9]",
  "\\",
  "zone",
];

function piecesOf(random: Random, pieces: readonly string[], max: number): string {
  return Array.from({ length: 1 + random.below(max) }, () => random.pick(pieces)).join("");
}

function mutated(random: Random, text: string, pieces: readonly string[]): string {
  let result = text;
  for (let left = 1 + random.below(5); left > 0; left--) {
    const at = random.below(result.length + 1);
    const from = random.below(result.length + 1);
    const copied = random.chance(0.3) ? result.slice(from, from + random.below(120)) : "";
    const piece = random.chance(0.7) ? random.pick(pieces) : String.fromCharCode(random.below(0x300));
    // Deep nesting and long runs find recursion and quadratic loops.
    const times = random.chance(0.02) ? 1 + random.below(2_000) : 1;
    const cut = random.chance(0.4) ? random.below(40) : 0;
    result = result.slice(0, at) + piece.repeat(times) + copied + result.slice(at + cut);
    if (result.length > 200_000) return result.slice(0, 200_000);
  }
  return result;
}

const strangeTexts = [
  "null",
  "0",
  "-1",
  "1e400",
  "1.5",
  '""',
  '"x"',
  '"#"',
  '".a"',
  '"{{ e }}"',
  "[]",
  "{}",
  "true",
  "[null]",
  '{"type":1}',
  '{"target":5}',
  '{"placeholder":"p"}',
  '"__proto__"',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  "[[[[]]]]",
  '{"cel":"context"}',
  '"context.x"',
  '["a","a"]',
  '"toString"',
  '"*"',
  '"1s"',
  '"' + "x".repeat(300) + '"',
  "12345678901234567890",
  '{"order":-1}',
  '"\\ud800"',
  '{"in":"s1"}',
  '{"and":[]}',
  '{"if":"true","then":[]}',
  '{"foreach":{"in":"[1,2]","item":"i","do":{"log":"i"}}}',
  '{"raise":{"type":"e0"}}',
  '{"send":{"type":"e0","delay":1}}',
];

/** A node of the JSON tree is replaced, renamed or put elsewhere; the text stays JSON, mostly. */
function mutatedJson(random: Random, text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return mutated(random, text, jsonPieces);
  }
  const marks: string[] = [];
  for (let left = 1 + random.below(3); left > 0; left--) {
    value = changed(random, value, () => {
      // JSON.parse would make a strange value ordinary (`__proto__` an own key, 1e400 Infinity): put in as text.
      marks.push(random.pick(strangeTexts));
      return `@@${marks.length - 1}@@`;
    });
  }
  const written = JSON.stringify(value).replace(
    /"@@(\d+)@@"/g,
    (_, index: string) => marks[Number(index)] ?? "null",
  );
  return random.chance(0.1) ? mutated(random, written, jsonPieces) : written;
}

function changed(random: Random, value: unknown, strange: () => unknown): unknown {
  if (typeof value !== "object" || value === null || random.chance(0.12)) return strange();
  if (Array.isArray(value)) {
    if (value.length === 0) return [strange()];
    const at = random.below(value.length);
    if (random.chance(0.1)) return [...(value as unknown[]), ...(value as unknown[])];
    return value.map((item: unknown, index) => (index === at ? changed(random, item, strange) : item));
  }
  const entries = Object.entries(value);
  if (entries.length === 0 || random.chance(0.08))
    return Object.fromEntries([...entries, [random.pick(keys), strange()]]);
  const at = random.below(entries.length);
  if (random.chance(0.08)) return Object.fromEntries(entries.filter((_, index) => index !== at));
  if (random.chance(0.08)) {
    return Object.fromEntries(
      entries.map(([key, item], index) => [index === at ? random.pick(keys) : key, item]),
    );
  }
  return Object.fromEntries(
    entries.map(([key, item], index) => [key, index === at ? changed(random, item, strange) : item]),
  );
}

const keys = [
  ...names,
  "id",
  "type",
  "initial",
  "states",
  "on",
  "after",
  "always",
  "onDone",
  "entry",
  "exit",
  "invoke",
  "output",
  "history",
  "target",
  "guard",
  "actions",
  "context",
  "settings",
  "order",
  "",
  "*",
  "a.*",
  "10",
  "2",
  "e0",
  "s1",
  "#",
  "/",
  "~1",
];

/** Of CEL's grammar, without regard to types. */
function expression(random: Random, depth: number): string {
  const inner = (): string => expression(random, depth + 1);
  if (depth >= 5) return random.pick(atoms);
  switch (random.below(14)) {
    case 0:
    case 1:
    case 2:
      return `${inner()} ${random.pick(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", "in", "&&", "||"])} ${inner()}`;
    case 3:
      return `(${inner()} ? ${inner()} : ${inner()})`;
    case 4:
      return `${random.pick(["!", "-"])}(${inner()})`;
    case 5:
      return `[${inner()}, ${inner()}]`;
    case 6:
      return `{${inner()}: ${inner()}}`;
    case 7:
      return `${inner()}.${random.pick(["map(i, ", "all(i, ", "exists(i, ", "filter(i, ", "exists_one(i, "])}${inner()})`;
    case 8:
      return `${inner()}[${inner()}]`;
    case 9:
      return `${random.pick(["size", "string", "int", "double", "type", "dyn", "bool", "has", "duration", "timestamp"])}(${inner()})`;
    case 10:
      return `${inner()}.${random.pick(["contains", "startsWith", "matches", "split", "join", "size", "getHours", "lowerAscii"])}(${inner()})`;
    case 11:
      return `${random.pick(["set", "merge", "unset"])}(${inner()}, ${inner()}, ${inner()})`;
    default:
      return random.pick(atoms);
  }
}

const atoms = [
  "context",
  "context.x",
  "context.log",
  "event",
  "event.n",
  "event.data",
  "input",
  "_event",
  "_event.name",
  "i",
  "true",
  "null",
  "0",
  "1",
  "-9223372036854775808",
  "9223372036854775807",
  "1.5",
  "1e308",
  "'a'",
  "'(a+)+$'",
  "''",
  "b'a'",
  "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]",
  "{}",
  "{'__proto__': 1}",
  "In('s1')",
  "params",
  "context.log.map(i, context.log)",
  "timestamp(0)",
  "duration('1s')",
  "1u",
];
