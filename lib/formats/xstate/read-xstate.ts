/**
 * XState v5 machine config as JSON, and Stately's dialect of it (`key`, `core.assign`, `{{ }}` expressions), into a chart.
 *
 * Whatever is code in XState is only a name in its JSON: each becomes a placeholder, and a text in another expression
 * language is kept word for word in one. Strings of XState are literal, strings of a chart are CEL, hence literalValue.
 *
 * Holds: the chart's settings choose XState's readings (selection `xstate`, errors `stop`), so that it runs as XState
 *        would; nothing is executed; events named by XState get their SCXML names.
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import type { Chart, Invoke, StateNode, StateType, Target } from "@/lib/statechart/document";
import type { ImportResult } from "../import-result";
import { literalValue } from "../literal";
import { Reports } from "../reports";
import { Expressions } from "./expressions";
import { readActions } from "./read-actions";
import { canNameGuard, readGuard } from "./read-guard";
import { codeText } from "./source-code";
import { nameOf, type Place } from "./place";
import { isText, listOf, type Reading } from "./reading";
import { StateNames } from "./state-names";
import { readTransitions } from "./read-transitions";

const stateTypes: readonly string[] = ["atomic", "compound", "parallel", "final", "history"];
const nodeFields = new Set(
  (
    "id key initial type states on after always onDone entry exit invoke tags output history target description meta order " +
    "context version profile queryLanguage schemas"
  ).split(" "),
);

/** A machine has one of these; one that is a single state has no `states`. */
const machineFields =
  "states initial on type key id context entry exit invoke always after output queryLanguage".split(" ");

/** What names stand for, where the machine came with code (read-source.ts). */
export interface Implementations {
  guards: JsonObject;
  actions: JsonObject;
  delays: JsonObject;
}

export function readXState(value: Json, given?: Implementations): ImportResult {
  const reports = new Reports();
  if (!isJsonObject(value)) {
    reports.error(
      "not-a-machine",
      "An XState machine is a JSON object with `states`; this text is something else.",
    );
    return { format: "xstate", chart: null, ...reports, name: null };
  }
  if (!machineFields.some((field) => Object.hasOwn(value, field)))
    reports.error(
      "not-a-machine",
      'This JSON is neither a chart of ours (it lacks "lockstep": 1) nor an XState machine (it lacks "states").',
    );
  const reading: Reading = {
    reports,
    names: new StateNames(value),
    expressions: new Expressions(reports, value.queryLanguage),
    guards: new Map(),
    actions: new Map(),
    delays: new Map(),
  };
  if (given !== undefined) readImplementations(reading, given);
  const chart: Chart = { lockstep: 1, ...readNode(reading, value, { path: [], state: "" }) };
  readRoot(reading, value, chart);
  return reports.result("xstate", chart, reading.names.machine);
}

function readImplementations(reading: Reading, { guards, actions, delays }: Implementations): void {
  const root: Place = { path: [], state: "" };
  for (const [name, value] of Object.entries(guards)) {
    const code = codeText(value);
    const read = code === undefined ? readGuard(reading, value, root, `guards/${name}`) : undefined;
    if (canNameGuard(name)) reading.guards.set(name, read ?? reading.reports.placeholder(name, code));
  }
  for (const [name, value] of Object.entries(actions)) {
    const code = codeText(value);
    const read = code === undefined ? readActions(reading, value, root, `actions/${name}`) : undefined;
    reading.actions.set(name, read ?? reading.reports.placeholder(name, code));
  }
  for (const [name, value] of Object.entries(delays))
    reading.delays.set(
      name,
      typeof value === "number" ? value : reading.reports.placeholder(name, codeText(value)),
    );
}

function readRoot(reading: Reading, value: JsonObject, chart: Chart): void {
  const { reports, expressions } = reading;
  const id = reading.names.rootId;
  if (id !== null) chart.id = id;
  const late: Record<string, Json> = {};
  if (isJsonObject(value.context) && codeText(value.context) === undefined) {
    chart.context = {};
    for (const [key, item] of Object.entries(value.context)) {
      const parsed = expressions.value(item);
      const embeds = JSON.stringify(parsed) !== JSON.stringify(literalValue(item));
      // A chart's context is literal: an embedded expression sets it on entry instead, where it can be a placeholder.
      if (embeds) late[key] = parsed;
      chart.context[key] = embeds ? null : literalContext(item);
    }
  } else if (value.context !== undefined) {
    reports.lose("`context` is not an object of values: the chart starts with an empty context.", {
      state: "",
    });
  }
  if (Object.keys(late).length > 0) chart.entry = [{ assign: late }, ...listOf(chart.entry)];
  if (isJsonObject(value.schemas)) chart.schemas = readSchemas(value.schemas);
  const kept = Object.fromEntries(
    ["version", "profile", "queryLanguage"].flatMap((field) => {
      const item = value[field];
      return item === undefined ? [] : [[field, item]];
    }),
  );
  if (Object.keys(kept).length > 0)
    chart.meta = { ...(isJsonObject(chart.meta) ? chart.meta : {}), xstate: kept };
  if (reading.guards.size > 0) chart.guards = Object.fromEntries(reading.guards);
  if (reading.actions.size > 0) chart.actions = Object.fromEntries(reading.actions);
  if (reading.delays.size > 0) chart.delays = Object.fromEntries(reading.delays);
  chart.settings = { selection: "xstate", errors: "stop" };
}

/** `{cel: …}` as a context value would be computed: write such literal data as a CEL map. */
function literalContext(item: Json): Json {
  if (!isJsonObject(item) || !Object.hasOwn(item, "cel")) return item;
  return { cel: `{'cel': ${JSON.stringify(item.cel)}}` };
}

function readSchemas(schemas: JsonObject): NonNullable<Chart["schemas"]> {
  const result: NonNullable<Chart["schemas"]> = {};
  if (schemas.input !== undefined) result.input = schemas.input;
  if (schemas.output !== undefined) result.output = schemas.output;
  if (isJsonObject(schemas.context)) result.context = { type: "object", properties: schemas.context };
  if (isJsonObject(schemas.events)) result.events = schemas.events;
  return result;
}

function readNode(reading: Reading, value: JsonObject, place: Place): StateNode {
  const { reports, expressions } = reading;
  const node: StateNode = {};
  const wrong = (field: string, want: string): void =>
    reports.error("bad-shape", `\`${field}\` of ${nameOf(place)} must be ${want}.`, {
      state: place.state,
      field,
    });
  for (const field of Object.keys(value))
    if (!nodeFields.has(field))
      reports.lose(`\`${field}\` of ${nameOf(place)} is unknown here and was left out.`, {
        state: place.state,
      });

  if (typeof value.id === "string" && place.path.length > 0) node.id = value.id;
  if (typeof value.order === "number") node.order = value.order;
  if (typeof value.type === "string" && stateTypes.includes(value.type)) node.type = value.type as StateType;
  else if (value.type !== undefined) wrong("type", `one of ${stateTypes.join(", ")}`);
  if (typeof value.description === "string") node.description = value.description;
  if (value.meta !== undefined) node.meta = value.meta;
  const tags = typeof value.tags === "string" ? [value.tags] : value.tags;
  if (Array.isArray(tags)) node.tags = tags.filter((tag) => typeof tag === "string");

  if (value.initial !== undefined) readInitial(reading, value.initial, place, node, wrong);
  if (value.history !== undefined || node.type === "history") {
    node.type = "history";
    node.history = value.history === "deep" ? "deep" : "shallow";
    const target = value.target === undefined ? undefined : reading.names.targets(value.target, place);
    if (target !== undefined) node.target = target;
  }
  const entry = readActions(reading, value.entry, place, "entry");
  if (entry !== undefined) node.entry = entry;
  const exit = readActions(reading, value.exit, place, "exit");
  if (exit !== undefined) node.exit = exit;
  const on = readTransitions.byEvent(reading, value.on, place);
  if (on !== undefined) node.on = on;
  const after = readTransitions.byDelay(reading, value.after, place);
  if (after !== undefined) node.after = after;
  const always = readTransitions.list(reading, value.always, place, "always");
  if (always !== undefined) node.always = always;
  const onDone = readTransitions.list(reading, value.onDone, place, "onDone");
  if (onDone !== undefined) node.onDone = onDone;
  const invoke = readInvokes(reading, value.invoke, place);
  if (invoke.length > 0) node.invoke = invoke;
  if (value.output !== undefined) node.output = expressions.value(value.output);

  if (value.states !== undefined && !isJsonObject(value.states)) wrong("states", "an object of states");
  if (isJsonObject(value.states) && Object.keys(value.states).length > 0) {
    node.states = {};
    for (const [key, child] of Object.entries(value.states)) {
      const path = [...place.path, key];
      if (isJsonObject(child))
        node.states[key] = readNode(reading, child, { path, state: reading.names.nameOf(path) });
      else
        reports.error("bad-shape", `State \`${path.join(".")}\` must be an object.`, { state: place.state });
    }
  }
  return node;
}

function readInitial(
  reading: Reading,
  initial: Json,
  place: Place,
  node: StateNode,
  wrong: (field: string, want: string) => void,
): void {
  if (typeof initial === "string") {
    node.initial = initial.startsWith("#") ? reading.names.target(initial, place) : initial;
  } else if (isJsonObject(initial) && (typeof initial.target === "string" || Array.isArray(initial.target))) {
    const targets = (Array.isArray(initial.target) ? initial.target : [initial.target]).filter(isText);
    const target: Target | Target[] = targets.length === 1 ? (targets[0] ?? "") : targets;
    const actions = readActions(reading, initial.actions, place, "initial");
    node.initial = actions === undefined ? target : { target, actions };
  } else wrong("initial", "the key of a child state");
}

function readInvokes(reading: Reading, value: Json | undefined, place: Place): Invoke[] {
  const { reports, expressions } = reading;
  const invokes: Invoke[] = [];
  listOf(value).forEach((item, index) => {
    const field = `invoke/${index}`;
    const source = isJsonObject(item) ? item.src : item;
    const code = codeText(source);
    const src = code !== undefined ? "actor" : isJsonObject(source) ? source.type : source;
    if (typeof src !== "string") {
      reports.error("bad-shape", `Invocation ${index} of ${nameOf(place)} has no \`src\`.`, {
        state: place.state,
        field,
      });
      return;
    }
    // Who carries the work out is code in XState; until the author chooses, the invocation stays a placeholder.
    const invoke: Invoke = { src: reports.placeholder(src, code) };
    if (isJsonObject(item)) {
      if (typeof item.id === "string") invoke.id = item.id;
      if (item.input !== undefined) invoke.input = expressions.value(item.input);
      for (const key of ["onDone", "onError"] as const) {
        const transitions = readTransitions.list(reading, item[key], place, `${field}/${key}`);
        if (transitions !== undefined) invoke[key] = transitions;
      }
      if (typeof item.timeout === "string" || typeof item.timeout === "number") invoke.timeout = item.timeout;
      if (item.retry !== undefined) invoke.retry = item.retry;
      for (const key of Object.keys(item))
        if (!["src", "id", "input", "onDone", "onError", "timeout", "retry"].includes(key))
          reports.lose(`\`${key}\` of the invocation \`${src}\` has no counterpart and was left out.`, {
            state: place.state,
          });
    }
    invokes.push(invoke);
  });
  return invokes;
}
