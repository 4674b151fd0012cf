/**
 * What is known of a chart's data, and above all what is not: a false alarm costs more than a silence.
 */
import { expect, test } from "vitest";
import { diagnose } from "./diagnose";
import type { Chart, StateNode } from "./document";

type Draft = Omit<Chart, "lockstep">;

const found = (draft: Draft): string[] =>
  diagnose({ lockstep: 1, ...draft }).map(({ code, at }) => `${code} ${at.state}#${at.field ?? ""}`);

/** One guard on `go`, in a chart with nothing else to say. */
const guarded = (guard: string, change: Draft = {}, a: StateNode = {}): Draft => ({
  initial: "a",
  states: { a: { ...a, on: { ...a.on, go: { guard, target: "b" } } }, b: { type: "final" } },
  ...change,
});

const schemas = {
  context: {
    type: "object",
    properties: {
      n: { type: "integer" },
      price: { type: "number" },
      name: { type: "string" },
      maybe: { type: ["string", "null"] },
      nullable: { type: "integer", nullable: true },
      status: { enum: ["open", "closed", null] },
      rows: { type: "array", items: { type: "object", properties: { qty: { type: "integer" } } } },
      labels: { type: "object", additionalProperties: { type: "string" } },
      either: { oneOf: [{ type: "string" }, { type: "integer" }] },
      open: { type: "object", properties: { a: { type: "string" } }, additionalProperties: true },
      anything: {},
      ref: { $ref: "#/$defs/x" },
      at: { type: "string", format: "date-time" },
    },
  },
  input: { type: "object", properties: { id: { type: "string" } } },
  events: {
    go: {
      type: "object",
      properties: { amount: { type: "number" }, rows: { type: "array", items: { type: "string" } } },
    },
    "item.added": { type: "object", properties: { sku: { type: "string" } } },
    "item.removed": { type: "object", properties: { sku: { type: "string" }, why: { type: "string" } } },
    text: { type: "string" },
  },
};

test.each([
  "context.n > 1.5 && context.price == 3",
  "context.n / 2 == 1 && context.n % 2 == 0",
  "context.maybe == null || context.maybe.startsWith('x')",
  "context.maybe > 'a'",
  "context.nullable > 5",
  "context.name != null",
  "context.status == 'open' || context.status == null",
  "context.status in ['open', 'half']",
  "context.rows.exists(r, r.qty > 2) && context.rows[0].qty == 1 && size(context.rows) > 0",
  "context.rows.map(r, r.qty).all(q, q < 5)",
  "context.rows.filter(r, r.qty > 1).size() == 2",
  "context.labels.anything == 'x' && context.labels['other'] == 'y' && 'k' in context.labels",
  "context.either == 'x' || context.either == 5 || context.either > 3",
  "context.open.b == 5 && context.open.a == 'x'",
  "context.anything.deep[3].deeper && context.ref.x == 1",
  "timestamp(context.at) > timestamp('2026-01-01T00:00:00Z')",
  "timestamp(context.at) - timestamp(context.at) < duration('1h')",
  "has(context.rows) && has(event.coupon) && event.coupon == 'x' || true",
  "event.amount > 5 && event.at > 0 && event.id != '' && event.type == 'go' && event.data.amount == 5",
  "input.id == 'x'",
  "_event.data.x == 1 && _sessionid == 'x'",
  "cel.bind(x, context.n + 1, x * x > 4)",
  "math.greatest(context.n, 2) > 1 && math.floor(context.price) == 2",
  "(context.n > 1 ? context.name : 'none') == 'x'",
  "string(context.n) + context.name == 'x' && int(context.name) == 3",
  "[1, 'a', null].exists(v, v == 1) && {'a': 1}.a == 1",
  "dyn(context.n) == 'x'",
  "context.name.split(',').join('-') == 'x' && context.name.size() > 1",
  "type(context.n) == int",
  "set(context, 'n', 5).anything == 1 && merge(context.labels, {'x': 'y'}).x == 'y'",
  "context.n in [1, 2, 3] && context.name in ['a', 'b']",
  "-context.n < 0 && !(context.n == 1)",
])("no alarm: `%s`", (guard) => {
  // has(event.coupon) is the one place where an absent field may be named.
  const tested = guard.includes("coupon") ? guard.replace("event.coupon == 'x'", "true") : guard;
  expect(found(guarded(tested, { schemas }))).toEqual([]);
});

test.each<[string, string]>([
  ["context.name > 5", "type-mismatch"],
  ["context.n == 'x'", "guard-never-true"],
  ["context.n == 'x' || context.n == 1", "type-mismatch"],
  ["context.status == 'opened'", "guard-never-true"],
  ["context.rows.exists(r, r.qyt > 2)", "unknown-field"],
  ["context.rows[0].qty == 'x'", "guard-never-true"],
  ["context.labels.x > 5", "type-mismatch"],
  ["context.nam == 'x'", "unknown-context"],
  ["context['nam'] == 'x'", "unknown-context"],
  ["event.amonut > 1", "unknown-field"],
  ["event.data.amonut > 1", "unknown-field"],
  ["event.output == 1", "unknown-field"],
  ["event.rows.exists(r, r > 5)", "type-mismatch"],
  ["input.nme == 'x'", "unknown-field"],
  ["context.n + context.name == 'x'", "type-mismatch"],
  ["context.name.qty == 1", "type-mismatch"],
  ["context.n.startsWith('x')", "type-mismatch"],
  ["context.n && true", "type-mismatch"],
  ["!context.name", "type-mismatch"],
  ["context.n ? true : false", "type-mismatch"],
  ["size(context.n) > 1", "type-mismatch"],
  ["context.n in ['a', 'b']", "guard-never-true"],
  ["context.rows['x'].qty == 1", "type-mismatch"],
  ["context.name", "guard-never-true"],
  ["In('nowhere')", "unknown-state"],
])("`%s` is %s", (guard, code) => {
  expect(found(guarded(guard, { schemas }))).toEqual([`${code} a#on/go/0/guard`]);
});

test("an event's fields follow the descriptor", () => {
  const on = (descriptor: string, guard: string): string[] =>
    found({
      schemas,
      initial: "a",
      states: { a: { on: { [descriptor]: { guard, target: "b" } } }, b: { type: "final" } },
    });
  expect(on("item.*", "event.sku == 'x' && event.why == 'y'")).toEqual([]);
  expect(on("item.*", "event.skw == 'x'")).toEqual(["unknown-field a#on/item.*/0/guard"]);
  expect(on("*", "event.whatever == 'x'")).toEqual([]);
  expect(on("text", "event.data == 'x'")).toEqual([]);
  expect(on("text", "event.sku == 'x'")).toEqual(["unknown-field a#on/text/0/guard"]);
  expect(on("done.state.x", "event.output.sum == 1")).toEqual([]);
});

test("without a schema a root is what it is given, first and later", () => {
  const context = { n: 1, half: 0.5, name: "x", list: [], none: null, zone: { id: "z" }, loose: 1 };
  const entry = {
    assign: {
      n: "context.n + 1",
      half: "context.half * 2",
      list: "context.list + [context.name]",
      "zone.eta": "5",
      loose: "event.anything",
      later: "'text'",
      seen: "timestamp('2026-01-01T00:00:00Z')",
    },
  };
  const judged = (guard: string): string[] => found(guarded(guard, { context }, { entry }));
  for (const guard of [
    "context.n == 1",
    "context.half == 1",
    "context.list == ['x'] && context.list[0].startsWith('y')",
    "context.zone.eta > 5 && context.zone.id == 'z'",
    "context.loose == 'a' || context.loose > 5",
    "context.later == 'x'",
    "context.seen.startsWith('2026')",
    "context.none == null",
  ])
    expect(judged(guard), guard).toEqual([]);
  for (const [guard, code] of [
    ["context.n == 'x'", "guard-never-true"],
    ["context.list.exists(l, l > 5)", "type-mismatch"],
    ["context.zone.eat > 5", "unknown-field"],
    ["context.later > 5", "type-mismatch"],
    ["context.seen.getHours() > 5", "type-mismatch"],
    ["context.missing == 1", "unknown-context"],
  ])
    expect(judged(must(guard)), guard).toEqual([`${must(code)} a#on/go/0/guard`]);
});
const must = (text: string | undefined): string => text ?? "";

test("types that depend on each other settle; one that grows for ever is anything", () => {
  const context = { a: 1, b: 1, c: 1, grows: [] };
  const entry = { assign: { a: "context.b", b: "context.c", c: "'text'", grows: "[context.grows]" } };
  const judged = (guard: string): string[] => found(guarded(guard, { context }, { entry }));
  expect(judged("context.a == 'x' && context.a > 1")).toEqual([]);
  expect(judged("context.a.size() > 1")).toEqual([]);
  expect(judged("context.a[0] == 1")).toEqual(["type-mismatch a#on/go/0/guard"]);
  expect(judged("context.grows[0][0][0][0][0][0][0][0] == 1")).toEqual([]);
});

test("what loops, invocations and late data give is known too", () => {
  const judged = (guard: string): string[] =>
    found(
      guarded(
        guard,
        { context: { rows: [{ qty: 1 }] }, tasks: { weigh: { schemas: { output: { type: "integer" } } } } },
        {
          entry: {
            foreach: { in: "context.rows", item: "row", index: "place", do: { log: "context.row.qty" } },
          },
          data: { bound: "'x'" },
          invoke: {
            src: "weigh",
            idLocation: "work",
            onDone: { target: "b", guard: "event.output > 5" },
            onError: { target: "b", guard: "event.output.code == 'declined' || event.message == 'x'" },
          },
        },
      ),
    );
  expect(judged("context.row.qty > 1 && context.place > 0 && context.work == 'x'")).toEqual([]);
  expect(judged("context.bound == 'y' && context.bound != null")).toEqual([]);
  expect(judged("context.row.qyt > 1")).toEqual(["unknown-field a#on/go/0/guard"]);
  expect(judged("context.place == 'x'")).toEqual(["guard-never-true a#on/go/0/guard"]);
});

test("an SCXML import's first values may be replaced by its parent: only names are known of them", () => {
  const scxml = (guard: string): string[] =>
    found(guarded(guard, { context: { n: 1 }, settings: { scxmlDomain: true } }));
  expect(scxml("context.n == 'x'")).toEqual([]);
  expect(scxml("context.m == 'x'")).toEqual(["unknown-context a#on/go/0/guard"]);
});

test("what is assigned fits what the schema says, as far as anyone can know", () => {
  const assigned = (location: string, value: string): string[] =>
    found(guarded("true", { schemas }, { entry: { assign: { [location]: value } } }));
  for (const [location, value] of [
    ["n", "5"],
    ["n", "context.price"],
    ["n", "event.data"],
    ["name", "timestamp('2026-01-01T00:00:00Z')"],
    ["maybe", "null"],
    ["status", "'closed'"],
    ["status", "context.name"],
    ["rows[0].qty", "3"],
    ["rows", "[]"],
    ["labels.x", "'y'"],
    ["either", "1"],
    ["anything", "duration('1s').getSeconds()"],
  ] as const)
    expect(assigned(location, value), `${location} = ${value}`).toEqual([]);
  for (const [location, value] of [
    ["n", "'five'"],
    ["n", "0.5"],
    ["name", "1 + 1"],
    ["name", "null"],
    ["status", "'ajar'"],
    ["rows[0].qty", "'x'"],
    ["rows", "{'a': 1}"],
    ["labels.x", "5"],
  ] as const)
    expect(assigned(location, value), `${location} = ${value}`).toEqual([
      `assign-type a#entry/0/assign/${location}`,
    ]);
});
