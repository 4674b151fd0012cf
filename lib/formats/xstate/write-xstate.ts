/**
 * A chart as XState v5 machine config JSON, with CEL in `{{ }}` (`queryLanguage: "cel"`, as Stately's documents have it).
 *
 * Named guards, actions and delays are put where they are used, for XState's JSON has no place for their meaning.
 * Holds: importing the text gives the same chart once more when it came from XState, else one that moves the same, as
 *        far as no loss says otherwise; platform events get XState's names.
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import {
  chartTree,
  initialTargets,
  invokesOf,
  many,
  resolveInside,
  type ChartTree,
  type TreeState,
  type TreeTransition,
} from "@/lib/diagram/chart-tree";
import { canonicalChart } from "@/lib/statechart/canonical-chart";
import { parseDelay } from "@/lib/statechart/delay";
import type { Action, Actions, Chart, Delay, Guard, StateNode, Text, Value } from "@/lib/statechart/document";
import { celString } from "../literal";
import { Losses } from "../losses";
import type { Loss } from "../import-result";

export function writeXState(chart: Chart): { text: string; losses: Loss[] } {
  const writer = new XStateWriter(JSON.parse(canonicalChart(chart)) as Chart);
  return { text: `${JSON.stringify(writer.document(), null, 2)}\n`, losses: writer.losses.list };
}

/** Names that name each other are followed this far. */
const namesDepthMax = 20;

export class XStateWriter {
  readonly losses = new Losses();
  protected readonly tree: ChartTree;
  private readonly bySource = new Map<TreeState, TreeTransition[]>();

  constructor(protected readonly chart: Chart) {
    this.tree = chartTree(chart);
    for (const transition of this.tree.transitions) {
      const list = this.bySource.get(transition.source);
      if (list === undefined) this.bySource.set(transition.source, [transition]);
      else list.push(transition);
    }
  }

  document(): JsonObject {
    const { chart } = this;
    const { schemas } = chart;
    this.tellSettings();
    const meta = isJsonObject(chart.meta) ? chart.meta : {};
    const kept = isJsonObject(meta.xstate) ? meta.xstate : {};
    const { xstate: _xstate, ...otherMeta } = meta;
    const node = this.node(this.tree.root);
    if (kept !== meta.xstate) return this.root(node, {}, schemas);
    if (Object.keys(otherMeta).length > 0) node.meta = otherMeta;
    else delete node.meta;
    return this.root(node, kept, schemas);
  }

  /** Where XState's reading of the same chart differs. */
  protected tellSettings(): void {
    const { settings = {}, tasks } = this.chart;
    if (settings.selection !== "xstate")
      this.losses.add("XState tries a parallel state's own handler only where no region handled the event");
    if (settings.errors !== "stop") this.losses.add("XState stops at an error that nothing handles");
    for (const name of Object.keys(settings))
      if (name !== "selection" && name !== "errors") this.losses.add(`the setting \`${name}\` is left out`);
    if (tasks !== undefined) this.losses.add("`tasks` are left out");
  }

  private root(node: JsonObject, kept: JsonObject, schemas: Chart["schemas"]): JsonObject {
    const { context } = this.chart;
    const head: JsonObject = { ...kept, queryLanguage: "cel" };
    if (context !== undefined) head.context = Object.fromEntries(this.context(context));
    if (schemas !== undefined) head.schemas = writtenSchemas(schemas);
    return { ...head, ...node };
  }

  private context(context: JsonObject): [string, Json][] {
    return Object.entries(context).map(([name, value]) => {
      const isComputed =
        isJsonObject(value) && typeof value.cel === "string" && Object.keys(value).length === 1;
      if (isComputed) {
        this.losses.add(`the context value \`${name}\` is computed on entry of the machine`);
        return [name, embedded(value.cel as string)];
      }
      if (JSON.stringify(value).includes("{{"))
        this.losses.add(`the context value \`${name}\` holds "{{": it may be read as an expression`);
      return [name, value];
    });
  }

  protected node(state: TreeState): JsonObject {
    const { node, kind, name } = state;
    const made: JsonObject = {};
    if (node.id !== undefined) made.id = node.id;
    if (node.order !== undefined) made.order = node.order;
    if (node.type !== undefined) made.type = node.type;
    if (kind === "history") {
      made.type = "history";
      made.history = node.history ?? "shallow";
      const targets = this.inside(state.parent ?? state, node.target);
      if (targets.length > 0) made.target = one(targets);
      this.withoutActions(node.target, "a history state's default", name);
    }
    if (node.description !== undefined) made.description = node.description;
    if (node.meta !== undefined) made.meta = node.meta;
    if (node.tags !== undefined) made.tags = node.tags;
    if (node.initial !== undefined && kind !== "history") {
      const start = this.initialText(state, node.initial);
      const actions = isArrow(node.initial) ? node.initial.actions : undefined;
      if (actions !== undefined) made.initial = { target: start, actions: this.actions(actions, name) };
      else made.initial = typeof start === "string" ? start : { target: start };
    }
    if (node.data !== undefined) this.losses.add("late binding is left out: those values stay null", name);
    if (node.entry !== undefined) made.entry = this.actions(node.entry, name);
    if (node.exit !== undefined) made.exit = this.actions(node.exit, name);
    this.transitions(state, made);
    if (node.output !== undefined) made.output = this.value(node.output);
    if (state.children.length > 0)
      made.states = Object.fromEntries(state.children.map((child) => [child.key, this.node(child)]));
    return made;
  }

  private transitions(state: TreeState, made: JsonObject): void {
    const { node, name } = state;
    const all = this.bySource.get(state) ?? [];
    const listed = (list: TreeTransition[], written: unknown): Json | undefined => {
      const items: unknown[] = Array.isArray(written) ? written : [written];
      const specs = list.map((transition): Json => {
        const spec = this.transition(transition);
        // Written as its target alone, it stays so.
        return typeof items[transition.index] === "string" ? (spec.target ?? null) : spec;
      });
      return specs.length === 0
        ? undefined
        : specs.length === 1 && !Array.isArray(written)
          ? specs[0]
          : specs;
    };
    const of = (kind: TreeTransition["when"]["kind"]): TreeTransition[] =>
      all.filter(({ when }) => when.kind === kind);
    const put = (target: JsonObject, field: string, value: Json | undefined): void => {
      if (value !== undefined) target[field] = value;
    };
    if (node.on !== undefined) {
      const on: JsonObject = {};
      for (const [event, written] of Object.entries(node.on)) {
        const type = this.eventName(event, name);
        put(
          on,
          type,
          listed(
            of("event").filter(({ when }) => when.kind === "event" && when.event === event),
            written,
          ),
        );
      }
      this.tellOrder(of("event"), name);
      made.on = on;
    }
    if (node.after !== undefined) {
      const after: JsonObject = {};
      for (const [delay, written] of Object.entries(node.after)) {
        const list = listed(
          of("after").filter(({ when }) => when.kind === "after" && when.delay === delay),
          written,
        );
        put(after, this.delayKey(delay, name), list);
      }
      made.after = after;
    }
    put(made, "always", listed(of("always"), node.always));
    put(made, "onDone", listed(of("done"), node.onDone));
    const invokes = invokesOf(node).map((invoke, index): JsonObject => {
      const { src, id, input, retry, timeout } = invoke;
      const written: JsonObject = { src: typeof src === "string" ? src : src.placeholder };
      this.source(typeof src === "string" ? src : src.placeholder);
      if (typeof src === "string")
        this.losses.add(`who carries out \`${src}\` is code in XState: only the name is written`, name);
      if (id !== undefined) written.id = id;
      if (input !== undefined) written.input = this.value(input);
      if (retry !== undefined) written.retry = retry;
      if (typeof timeout === "string" || typeof timeout === "number") written.timeout = timeout;
      for (const on of ["onDone", "onError"] as const)
        put(
          written,
          on,
          listed(
            of("invoke").filter(
              ({ when }) => when.kind === "invoke" && when.index === index && when.on === on,
            ),
            invoke[on],
          ),
        );
      for (const field of [
        "onEvent",
        "finalize",
        "autoforward",
        "compensate",
        "concurrencyKey",
        "idLocation",
      ] as const)
        if (invoke[field] !== undefined) this.losses.add(`\`${field}\` of the invocation is left out`, name);
      return written;
    });
    if (invokes.length > 0) made.invoke = Array.isArray(node.invoke) ? invokes : (invokes[0] ?? {});
  }

  /** Called for every source of an invocation. */
  protected source(_src: string): void {}

  /** XState tries exact names, then longer `.*`, then `*`, whatever the order written. */
  private tellOrder(transitions: TreeTransition[], state: string): void {
    const ranks = transitions
      .map(({ spec, when }, index) => ({
        at: spec.order ?? index,
        event: when.kind === "event" ? when.event : "",
      }))
      .sort((a, b) => a.at - b.at)
      .map(({ event }) => (event === "*" ? 1 : event.endsWith(".*") ? -event.length : -1e9));
    if (ranks.some((rank, index) => rank < (ranks[index - 1] ?? -Infinity)))
      this.losses.add("XState tries exact events before wildcards, whatever the order here", state);
  }

  private transition({ spec, source, targets }: TreeTransition): JsonObject {
    const { guard, actions, reenter, description, meta } = spec;
    const made: JsonObject = {};
    if (targets.length > 0)
      made.target = oneAs(
        spec.target,
        targets.map(({ text, state }) => (state === null ? text : this.targetText(source, state, text))),
      );
    if (guard !== undefined) made.guard = this.guard(guard, source.name);
    if (actions !== undefined) made.actions = this.actions(actions, source.name);
    if (reenter !== undefined) made.reenter = reenter;
    if (description !== undefined) made.description = description;
    if (meta !== undefined) made.meta = meta;
    return made;
  }

  /** As written where XState reads it so; names without an id are paths from the machine. */
  private targetText(source: TreeState, state: TreeState, text: string): string {
    if (!text.startsWith("#"))
      return source.parent === null && !text.startsWith(".") ? this.idOf(state) : text;
    return this.idOf(state);
  }

  protected idOf(state: TreeState): string {
    if (state.node.id !== undefined) return `#${state.node.id}`;
    const machine = this.tree.root.node.id ?? "(machine)";
    return `#${[machine, ...state.path.map((key) => key.replaceAll(".", "\\."))].join(".")}`;
  }

  private inside(state: TreeState, value: StateNode["initial"]): string[] {
    return initialTargets(value).map((text) => {
      const found = resolveInside(this.tree, state, text);
      return found === null || !text.startsWith("#") ? text : this.idOf(found);
    });
  }

  /** XState starts a state in one of its children, by key; other starts are kept for us alone. */
  protected initialText(state: TreeState, value: StateNode["initial"]): string | string[] {
    const found = initialTargets(value).map((text) => resolveInside(this.tree, state, text));
    const [only] = found;
    if (found.length === 1 && only?.parent === state) return only.key;
    this.losses.add(
      "XState starts a state in one child: a start deeper inside is not understood",
      state.name,
    );
    return one(this.inside(state, value));
  }

  private withoutActions(value: StateNode["initial"], what: string, state: string): void {
    if (isArrow(value) && many<Action>(value.actions).length > 0)
      this.losses.add(`the actions of ${what} are left out`, state);
  }

  protected guard(guard: Guard, state: string, depth = 0): Json {
    const inner = (part: Guard): Json => this.guard(part, state, depth + 1);
    if (typeof guard === "string" || "type" in guard) {
      const name = typeof guard === "string" ? guard : guard.type;
      const { guards = {} } = this.chart;
      const named = Object.hasOwn(guards, name) ? guards[name] : undefined;
      if (named === undefined) return typeof guard === "string" ? embedded(guard) : name;
      const isCode = typeof named === "object" && "placeholder" in named && named.placeholder === name;
      const params = typeof guard === "string" ? undefined : guard.params;
      if (isCode) return params === undefined ? name : { type: name, params: this.value(params) };
      if (params === undefined && depth < namesDepthMax) return inner(named);
      this.losses.add(
        `what the guard \`${name}\` does with its parameters is left out: only the name is written`,
        state,
      );
      return params === undefined ? name : { type: name, params: this.value(params) };
    }
    if ("and" in guard) return { type: "xstate.and", guards: guard.and.map(inner) };
    if ("or" in guard) return { type: "xstate.or", guards: guard.or.map(inner) };
    if ("not" in guard) return { type: "xstate.not", guards: [inner(guard.not)] };
    if ("in" in guard) return embedded(`In(${celString(guard.in)})`);
    return guard.placeholder;
  }

  protected actions(actions: Actions, state: string, depth = 0): Json[] {
    return many<Action>(actions).flatMap((action) => this.action(action, state, depth));
  }

  protected action(action: Action, state: string, depth: number): Json[] {
    if (typeof action === "string" || "type" in action) {
      const name = typeof action === "string" ? action : action.type;
      const { actions = {} } = this.chart;
      const named = Object.hasOwn(actions, name) ? actions[name] : undefined;
      const isCode =
        typeof named === "object" &&
        !Array.isArray(named) &&
        "placeholder" in named &&
        named.placeholder === name;
      const params = typeof action === "string" ? undefined : action.params;
      if (named !== undefined && !isCode && params === undefined && depth < namesDepthMax)
        return this.actions(named, state, depth + 1);
      if (!isCode)
        this.losses.add(`what the action \`${name}\` does is left out: only the name is written`, state);
      return [params === undefined ? name : { type: name, params: this.value(params) }];
    }
    if ("placeholder" in action) return [action.placeholder];
    if ("assign" in action) {
      for (const location of Object.keys(action.assign))
        if (/[.[]/.test(location))
          this.losses.add(`XState assigns whole values: \`${location}\` is written as a name`, state);
      const assignments = Object.fromEntries(
        Object.entries(action.assign).map(([key, value]) => [key, this.value(value)]),
      );
      return [{ type: "xstate.assign", assignments }];
    }
    if ("raise" in action) {
      const event = this.event(action.raise, state);
      return event === null ? [] : [{ type: "xstate.raise", event, ...this.timing(action.raise, state) }];
    }
    if ("send" in action) {
      const { to, idLocation } = action.send;
      const event = this.event(action.send, state);
      const timing = this.timing(action.send, state);
      if (idLocation !== undefined) this.losses.add("`idLocation` of a send is left out", state);
      if (event === null) return [];
      if (to === "#_parent") return [{ type: "xstate.sendParent", event, ...timing }];
      if (to === undefined || to === "#_internal") {
        if (to === undefined)
          this.losses.add(
            "a send to the chart itself is a raise in XState: it comes before waiting events",
            state,
          );
        return [{ type: "xstate.raise", event, ...timing }];
      }
      if (typeof to === "string" && to.startsWith("#_"))
        return [{ type: "xstate.sendTo", actorRef: to.slice(2), event, ...timing }];
      this.losses.add(`the send to \`${textOf(to)}\` is left out`, state);
      return [];
    }
    if ("emit" in action) {
      const event = this.event(action.emit, state);
      return event === null ? [] : [{ type: "xstate.emit", event }];
    }
    if ("log" in action)
      return [
        {
          type: "xstate.log",
          message: this.value(action.log),
          ...(action.label === undefined ? {} : { label: action.label }),
        },
      ];
    if ("cancel" in action) {
      if (typeof action.cancel === "string") return [{ type: "xstate.cancel", sendId: action.cancel }];
      this.losses.add("a cancel with a computed id is left out", state);
      return [];
    }
    if ("block" in action) {
      this.losses.add("a failure in a block ends all actions after it in XState", state);
      return this.actions(action.block, state, depth);
    }
    const word = "if" in action ? "if" : "foreach" in action ? "foreach" : "compensate";
    this.losses.add(
      `\`${word}\` has no counterpart in XState's JSON: it is left out, with what it holds`,
      state,
    );
    return [];
  }

  private event({ type, data }: { type: Text; data?: Value }, state: string): Json | null {
    if (typeof type !== "string") {
      this.losses.add("an action whose event type is computed is left out", state);
      return null;
    }
    const name = this.eventName(type, state);
    if (data === undefined) return { type: name };
    if (!isJsonObject(data)) {
      this.losses.add("event data that is no map of fields stands in the field `data`", state);
      return { type: name, data: this.value(data) };
    }
    if (Object.hasOwn(data, "type"))
      this.losses.add("the data field `type` is left out: XState keeps the event's name there", state);
    return { ...(this.value(data) as JsonObject), type: name };
  }

  protected timing({ delay, id }: { delay?: Delay; id?: Text }, state: string): JsonObject {
    const made: JsonObject = {};
    if (typeof delay === "number") made.delay = delay;
    else if (typeof delay === "string") made.delay = this.delayKey(delay, state, true);
    else if (delay !== undefined) made.delay = delay.placeholder;
    if (typeof id === "string") made.id = id;
    else if (id !== undefined) this.losses.add("a computed id of a send is left out", state);
    return made;
  }

  /** A delay as a key of `after`, or as text of an action: named ones in ms where they are durations. */
  protected delayKey(delay: string, state: string, inAction = false, depth = 0): string {
    const { delays = {} } = this.chart;
    const named = Object.hasOwn(delays, delay) ? delays[delay] : undefined;
    if (typeof named === "number") return inAction ? `${named}ms` : String(named);
    if (typeof named === "string" && depth < namesDepthMax)
      return this.delayKey(named, state, inAction, depth + 1);
    if (named !== undefined || parseDelay(delay) !== null) return delay;
    return embedded(delay);
  }

  protected value(value: Value): Json {
    if (typeof value === "string") return literalText(value) ?? embedded(value);
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (typeof value.placeholder === "string") {
      // Its text is of another language than the document's, which is CEL.
      const text = typeof value.text === "string" ? value.text : value.placeholder;
      this.losses.add(`the value \`${text}\` has no implementation: it is written as null`);
      return embedded("null");
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.value(item)]));
  }

  /** The id as it stands in event names. */
  protected plainId(state: TreeState): string {
    return this.idOf(state).slice(1);
  }

  /** SCXML's names of platform events in XState's words. */
  protected eventName(type: string, state: string): string {
    const fixed: Readonly<Record<string, string>> = {
      "done.*": "xstate.done.*",
      "done.state.*": "xstate.done.state.*",
      "done.invoke.*": "xstate.done.actor.*",
      "error.*": "xstate.error.*",
      "error.invoke.*": "xstate.error.actor.*",
    };
    if (Object.hasOwn(fixed, type)) return fixed[type] ?? type;
    const found = /^(done\.state|done\.invoke|error\.invoke)\.(.+)$/s.exec(type);
    if (found?.[2] !== undefined) {
      const named = this.tree.byName.get(found[2]);
      if (found[1] === "done.state")
        return `xstate.done.state.${named === undefined ? found[2] : this.plainId(named)}`;
      const unnamed = /^(.+):(\d+)$/s.exec(found[2]);
      const owner = unnamed?.[1] === undefined ? undefined : this.tree.byName.get(unnamed[1]);
      const id = owner === undefined ? found[2] : `${unnamed?.[2] ?? "0"}.${this.plainId(owner)}`;
      return `xstate.${found[1] === "done.invoke" ? "done" : "error"}.actor.${id}`;
    }
    if (type === "error.execution" || type === "error.communication")
      this.losses.add(`XState has no event \`${type}\`: nothing sends it there`, state);
    return type;
  }
}

const isArrow = (value: StateNode["initial"]): value is { target: string | string[]; actions?: Actions } =>
  typeof value === "object" && !Array.isArray(value);
const one = (list: string[]): string | string[] => (list.length === 1 ? (list[0] ?? "") : list);
const oneAs = (written: unknown, list: string[]): string | string[] =>
  Array.isArray(written) ? list : one(list);
const embedded = (cel: string): string => `{{ ${cel} }}`;
const textOf = (text: Text): string => (typeof text === "string" ? text : text.cel);

/** The text of a CEL string literal without escapes that XState's JSON holds as it is. */
function literalText(cel: string): string | null {
  const text = /^'([^'\\]*)'$/.exec(cel)?.[1];
  return text === undefined || text.trim().startsWith("{{") ? null : text;
}

function writtenSchemas(schemas: NonNullable<Chart["schemas"]>): JsonObject {
  const { input, output, events, context } = schemas;
  const made: JsonObject = {};
  if (input !== undefined) made.input = input;
  if (output !== undefined) made.output = output;
  if (events !== undefined) made.events = events;
  if (isJsonObject(context) && isJsonObject(context.properties)) made.context = context.properties;
  return made;
}
