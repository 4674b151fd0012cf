/**
 * A chart as SCXML 1.0 with datamodel="cel". What SCXML has no words for stands beside it in attributes of our own
 * namespace (own-names.ts), so that reading the text back gives the same chart; every other tool is told in the losses.
 *
 * Holds: reading back gives the same canonical form (property test); ids are XML ids without white space, the chart's own
 *        names where they are such.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import { canonicalChart } from "@/lib/statechart/canonical-chart";
import type {
  Action,
  Actions,
  Chart,
  Invoke,
  StateNode,
  TransitionObject,
  Value,
} from "@/lib/statechart/document";
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
import { celString } from "../literal";
import { Losses } from "../losses";
import type { Loss } from "../import-result";
import { ownNamespace } from "./own-names";
import { ActionWriter, asJson, isPlainData, same } from "./write-actions";
import { xmlElement, xmlSafe, xmlText, type XmlNode } from "./write-xml";

export function writeScxml(chart: Chart): { text: string; losses: Loss[] } {
  // The canonical form has every order written down.
  const writer = new ScxmlWriter(JSON.parse(canonicalChart(chart)) as Chart);
  return { text: xmlText(writer.document()), losses: writer.losses.list };
}

/** Fields of a chart that are no state's. */
const chartFields = ["schemas", "guards", "actions", "delays", "tasks", "settings"] as const;
const listFields = ["entry", "exit", "always", "onDone", "invoke"] as const;

class ScxmlWriter {
  readonly losses = new Losses();
  private readonly tree: ChartTree;
  private readonly actions: ActionWriter;
  private readonly aliases = new Map<TreeState, string>();
  private readonly taken = new Set<string>();
  private readonly bySource = new Map<TreeState, TreeTransition[]>();
  /** Context roots that a state binds at its first entry stand there. */
  private readonly lateRoots = new Set<string>();

  constructor(private readonly chart: Chart) {
    this.tree = chartTree(chart);
    this.actions = new ActionWriter(chart, this.losses);
    const usable = (name: string): boolean => name !== "" && !/[\s#]/.test(name) && name === xmlSafe(name);
    const { states } = this.tree;
    for (const state of states) if (usable(state.name)) this.alias(state, state.name);
    for (const state of states)
      if (!usable(state.name)) this.alias(state, this.unused(state.parent === null ? "root" : "state"));
    for (const transition of this.tree.transitions) {
      const list = this.bySource.get(transition.source);
      if (list === undefined) this.bySource.set(transition.source, [transition]);
      else list.push(transition);
    }
    for (const { node } of states)
      for (const root of Object.keys(node.data ?? {}))
        if (chart.context?.[root] === null && isDataId(root)) this.lateRoots.add(root);
  }

  document(): XmlNode {
    const { chart, tree } = this;
    const { root } = tree;
    this.tellOthers();
    const kept: JsonObject = {};
    for (const field of chartFields)
      if (chart[field] !== undefined) kept[field] = chart[field] as unknown as Json;
    const data = this.context(kept);
    const head = {
      xmlns: "http://www.w3.org/2005/07/scxml",
      "xmlns:ls": ownNamespace,
      version: "1.0",
      datamodel: "cel",
      binding: this.lateRoots.size > 0 ? "late" : undefined,
      name: chart.id === undefined ? undefined : xmlSafe(chart.id),
      "ls:version": "1",
      "ls:chart": Object.keys(kept).length === 0 ? undefined : asJson(kept),
    };
    // <scxml> is no state: a root that acts needs one of its own inside.
    const { node } = root;
    const { initial } = node;
    const acts =
      root.kind !== "compound" ||
      this.transitionsOf(root).length > 0 ||
      many<Action>(node.entry).length + many<Action>(node.exit).length + invokesOf(node).length > 0 ||
      node.data !== undefined ||
      (typeof initial === "object" && !Array.isArray(initial));
    const state = this.state(root);
    if (!acts) {
      const own = state.attributes.filter(
        ([name]) => name === "initial" || (name.startsWith("ls:") && name !== "ls:unnamed"),
      );
      return xmlElement("scxml", { ...head, ...Object.fromEntries(own) }, [...data, ...state.children]);
    }
    const id = this.aliasOf(root);
    state.attributes.push(["ls:root", "true"]);
    const extra: XmlNode[] = [];
    if (root.kind === "parallel" || root.children.some(({ kind }) => kind === "final")) {
      const ended = this.unused("ended");
      state.children.push(
        xmlElement("transition", { event: `done.state.${id}`, target: ended, "ls:skip": "true" }),
      );
      extra.push(xmlElement("final", { id: ended, "ls:skip": "true" }));
    }
    return xmlElement("scxml", { ...head, initial: id }, [...data, state, ...extra]);
  }

  /** What other tools will not see, of the chart as a whole. */
  private tellOthers(): void {
    const { schemas, tasks, settings = {} } = this.chart;
    if (schemas !== undefined) this.losses.add("`schemas` mean nothing to other tools");
    if (tasks !== undefined) this.losses.add("`tasks` mean nothing to other tools");
    for (const [name, value] of Object.entries(settings))
      if (!(
        name === "scxmlDomain" ||
        (name === "selection" && value === "scxml") ||
        (name === "errors" && value === "continue")
      ))
        this.losses.add(`the setting \`${name}: ${JSON.stringify(value)}\` means nothing to other tools`);
  }

  private context(kept: JsonObject): XmlNode[] {
    const { context } = this.chart;
    if (context === undefined) return [];
    const left: JsonObject = {};
    const data: XmlNode[] = [];
    for (const [id, value] of Object.entries(context)) {
      if (this.lateRoots.has(id)) continue;
      const computed =
        typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, "cel");
      const cel = computed && Object.keys(value).length === 1 ? value.cel : undefined;
      if (!isDataId(id) || (computed && typeof cel !== "string")) {
        left[id] = value;
        this.losses.add(`the context value \`${id}\` is unknown to other tools: its name is none of SCXML's`);
      } else if (typeof cel === "string") {
        if (cel !== xmlSafe(cel).trim()) left[id] = value;
        else data.push(xmlElement("data", { id, expr: cel }));
      } else data.push(xmlElement("data", { id }, [JSON.stringify(value)]));
    }
    if (Object.keys(left).length > 0 || Object.keys(context).length === 0) kept.context = left;
    return data.length === 0 ? [] : [xmlElement("datamodel", {}, data)];
  }

  private state(state: TreeState): XmlNode {
    const { node, kind } = state;
    const name = kind === "parallel" || kind === "final" || kind === "history" ? kind : "state";
    const id = this.aliasOf(state);
    const rest = this.rest(state);
    const attributes: Record<string, string | undefined> = {
      id,
      ...(state.parent === null || state.key === id ? {} : { "ls:key": asText(state.key) }),
      "ls:unnamed": node.id === undefined ? "true" : undefined,
      "ls:name": node.id === undefined || node.id === id ? undefined : asText(node.id),
    };
    if (kind === "history") attributes.type = node.history ?? "shallow";
    const children: XmlNode[] = [...this.lateData(state, rest)];
    const initial = this.initial(state, kind === "history" ? node.target : node.initial, attributes);
    if (initial !== null) children.push(initial);
    children.push(...this.blocks("onentry", node.entry, state), ...this.blocks("onexit", node.exit, state));
    if (kind === "final" && node.output !== undefined) {
      const { nodes, read } = this.actions.payload(node.output);
      const exact = same(read, node.output);
      children.push(xmlElement("donedata", exact ? {} : { "ls:output": asJson(node.output) }, nodes));
    } else if (node.output !== undefined) {
      rest.output = node.output;
      this.losses.add("the output of a state that is not final is unknown to other tools", state.name);
    }
    const invokes = invokesOf(node).map((invoke, index) => this.invoke(state, invoke, index));
    if (invokes.length > 0 && !Array.isArray(node.invoke)) invokes[0]?.attributes.push(["ls:one", "true"]);
    children.push(...invokes, ...this.transitions(state));
    if (Object.keys(rest).length > 0) attributes["ls:state"] = asJson(rest);
    // What the element implies and the chart does not say.
    const absent = [
      ...((kind === "parallel" || kind === "final" || kind === "history") && node.type === undefined
        ? ["type"]
        : []),
      ...(kind === "history" && node.history === undefined ? ["history"] : []),
    ];
    if (absent.length > 0) attributes["ls:absent"] = absent.join(" ");
    return xmlElement(name, attributes, [...children, ...state.children.map((child) => this.state(child))]);
  }

  /** Fields without a place in SCXML, empty lists included. */
  private rest({ node, kind, name, parent }: TreeState): Record<string, Json> {
    const rest: Record<string, Json> = {};
    for (const field of ["tags", "description", "meta"] as const)
      if (node[field] !== undefined) {
        rest[field] = node[field];
        if (field === "tags") this.losses.add("tags mean nothing to other tools", name);
      }
    if (node.type === "atomic" || node.type === "compound") rest.type = node.type;
    if (kind !== "history" && node.history !== undefined) rest.history = node.history;
    if (kind !== "history" && node.target !== undefined) rest.target = node.target as Json;
    if (kind === "history" && node.initial !== undefined) rest.initial = node.initial as Json;
    if (node.states !== undefined && Object.keys(node.states).length === 0) rest.states = {};
    for (const field of listFields) {
      const value = node[field];
      if (Array.isArray(value) && value.length === 0) rest[field] = [];
    }
    for (const field of ["on", "after"] as const) {
      const map = node[field];
      if (map === undefined) continue;
      const empty = Object.entries(map).filter(([, list]) => Array.isArray(list) && list.length === 0);
      if (empty.length > 0 || Object.keys(map).length === 0)
        rest[field] = Object.fromEntries(empty) as JsonObject;
    }
    if (parent === null && node.order !== undefined) rest.order = node.order;
    return rest;
  }

  private lateData({ node, name }: TreeState, rest: Record<string, Json>): XmlNode[] {
    const { data } = node;
    if (data === undefined) return [];
    const written: XmlNode[] = [];
    const left: Record<string, Value> = {};
    for (const [id, value] of Object.entries(data)) {
      const usable = this.lateRoots.delete(id);
      const expr = this.actions.expression(value);
      if (usable && isPlainData(value)) written.push(xmlElement("data", { id }, [JSON.stringify(value)]));
      else if (usable && value === expr) written.push(xmlElement("data", { id, expr }));
      else {
        left[id] = value;
        if (usable) written.push(xmlElement("data", { id, expr }));
        else this.losses.add(`the late value of \`${id}\` is unknown to other tools`, name);
      }
    }
    if (Object.keys(left).length > 0 || Object.keys(data).length === 0) rest.data = left;
    return written.length === 0 ? [] : [xmlElement("datamodel", {}, written)];
  }

  /** The dot's arrow, or a history state's default. */
  private initial(
    state: TreeState,
    value: StateNode["initial"],
    attributes: Record<string, string | undefined>,
  ): XmlNode | null {
    if (value === undefined) return null;
    const home = state.kind === "history" ? state.parent : state;
    const found = initialTargets(value).map((text) => home && resolveInside(this.tree, home, text));
    const names = found.flatMap((one) => (one === null ? [] : [this.aliasOf(one)]));
    const block = typeof value === "object" && !Array.isArray(value) ? value.actions : undefined;
    const target = plainTarget(names);
    const filled = Array.isArray(block) && block.length > 0;
    const read = filled ? { target, actions: block } : target;
    const writable =
      names.length > 0 &&
      names.length === found.length &&
      (state.kind === "compound" || state.kind === "history");
    if (!writable || !same(read ?? null, value)) attributes["ls:initial"] = asJson(value);
    if (!writable) {
      this.losses.add("its initial state is unknown to other tools", state.name);
      return null;
    }
    const { nodes } = this.actions.block(block, state.name);
    const arrow = xmlElement("transition", { target: names.join(" ") }, nodes);
    if (state.kind === "history") return arrow;
    if (nodes.length > 0) return xmlElement("initial", {}, [arrow]);
    attributes.initial = names.join(" ");
    return null;
  }

  private blocks(
    name: "onentry" | "onexit",
    actions: Actions | undefined,
    { name: state }: TreeState,
  ): XmlNode[] {
    const list = many<Action>(actions);
    if (list.length === 0) return [];
    const blocks = list.flatMap((action) =>
      typeof action === "object" &&
      "block" in action &&
      Array.isArray(action.block) &&
      action.block.length > 0
        ? [action.block]
        : [],
    );
    if (Array.isArray(actions) && blocks.length === list.length && blocks.length > 1)
      return blocks.map((block) => xmlElement(name, {}, this.actions.block(block, state).nodes));
    const { nodes, shape } = this.actions.block(actions, state);
    return [xmlElement(name, { "ls:actions": shape }, nodes)];
  }

  private invoke(state: TreeState, invoke: Invoke, index: number): XmlNode {
    const { onDone, onError, onEvent, finalize, ...own } = invoke;
    const empties = Object.fromEntries(
      Object.entries({ onDone, onError, onEvent }).filter(
        ([, list]) => Array.isArray(list) && list.length === 0,
      ),
    );
    const read: Record<string, Json> = { src: "chart" };
    const attributes: Record<string, string | undefined> = { type: "scxml" };
    const children: XmlNode[] = [];
    if (own.id !== undefined) read.id = attributes.id = xmlSafe(own.id);
    else attributes.id = undefined;
    if (own.idLocation !== undefined)
      read.idLocation = attributes.idlocation = xmlSafe(own.idLocation).trim();
    if (own.autoforward === true) {
      attributes.autoforward = "true";
      read.autoforward = true;
    }
    if (own.src === "chart") {
      const input =
        typeof own.input === "object" && own.input !== null && !Array.isArray(own.input) ? own.input : {};
      const back: Record<string, Json> = {};
      if (input.params !== undefined && !isPlainData(input.params)) {
        const { nodes, read: params } = this.actions.payload(input.params);
        if (nodes.every((child) => child.name === "param")) {
          children.push(...nodes);
          back.params = params;
        }
      }
      if (typeof input.source === "string") {
        back.source = xmlSafe(input.source).trim();
        children.push(xmlElement("content", { expr: back.source }));
      } else if (typeof input.url === "string") {
        back.url = xmlSafe(input.url).trim();
        attributes.srcexpr = back.url;
      } else this.losses.add("an invocation of a chart by name is unknown to other tools", state.name);
      if (Object.keys(back).length > 0) read.input = back;
    } else {
      const src = typeof own.src === "string" ? own.src : own.src.placeholder;
      attributes.type = `lockstep:${xmlSafe(src)}`;
      if (own.input !== undefined) children.push(...this.actions.payload(own.input).nodes);
      this.losses.add(`the invocation of \`${src}\` is unknown to other tools`, state.name);
    }
    let keptFinalize: { finalize?: Actions } = {};
    if (finalize !== undefined) {
      const { nodes, shape } = this.actions.block(finalize, state.name);
      if (nodes.length > 0) children.push(xmlElement("finalize", { "ls:actions": shape }, nodes));
      else keptFinalize = { finalize };
    }
    const all = { ...own, ...keptFinalize, ...empties };
    if (!same(read, all)) attributes["ls:invoke"] = asJson(all);
    const unnamed =
      own.id === undefined &&
      this.transitionsOf(state).some(({ when }) => when.kind === "invoke" && when.index === index);
    // Its transitions name it: the id it gets at run time.
    if (unnamed) {
      attributes.id = `${this.aliasOf(state)}:${index}`;
      attributes["ls:invoke"] = asJson(all);
    }
    return xmlElement("invoke", attributes, children);
  }

  private transitions(state: TreeState): XmlNode[] {
    const found = this.transitionsOf(state);
    const delays = [...new Set(found.flatMap(({ when }) => (when.kind === "after" ? [when.delay] : [])))];
    const timers = delays.flatMap((key, index) => {
      const event = `after.${this.aliasOf(state)}.${index}`;
      const { attributes } = this.actions.delay(/^\d+$/.test(key) ? Number(key) : key, state.name);
      // Without a delay the timer never fires.
      if (Object.keys(attributes).length === 0) return [];
      return [
        xmlElement("onentry", { "ls:skip": "true" }, [
          xmlElement("send", { event, id: event, ...attributes }),
        ]),
        xmlElement("onexit", { "ls:skip": "true" }, [xmlElement("cancel", { sendid: event })]),
      ];
    });
    return [...timers, ...found.map((one) => this.transition(one, delays))];
  }

  private transition(transition: TreeTransition, delays: string[]): XmlNode {
    const { source, spec, when, targets, count } = transition;
    const invoke = when.kind === "invoke" ? invokesOf(source.node)[when.index] : undefined;
    const list = invoke !== undefined && when.kind === "invoke" ? invoke[when.on] : listOf(transition);
    const attributes: Record<string, string | undefined> = {};
    let cond = spec.guard === undefined ? undefined : this.actions.guard(spec.guard, source.name);
    const readGuard = cond;
    const id = invoke?.id ?? `${this.aliasOf(source)}:${when.kind === "invoke" ? when.index : 0}`;
    switch (when.kind) {
      case "always":
        break;
      case "event":
        attributes.event = xmlSafe(when.event);
        if (attributes.event !== when.event || /\s/.test(when.event) || when.event === "")
          Object.assign(attributes, { "ls:kind": "event", "ls:key": asText(when.event) });
        break;
      case "done":
        attributes.event = `done.state.${this.aliasOf(source)}`;
        attributes["ls:kind"] = "onDone";
        break;
      case "after":
        attributes.event = `after.${this.aliasOf(source)}.${delays.indexOf(when.delay)}`;
        Object.assign(attributes, { "ls:kind": "after", "ls:key": asText(when.delay) });
        break;
      case "invoke": {
        const own = `_event.invokeid == ${celString(id)}`;
        if (when.on === "onEvent") cond = cond === undefined ? own : `${own} && (${cond})`;
        attributes.event = { onDone: `done.invoke.${id}`, onError: `error.invoke.${id}`, onEvent: "*" }[
          when.on
        ];
        Object.assign(attributes, { "ls:kind": when.on, "ls:key": String(when.index) });
      }
    }
    const states = targets.flatMap((one) => (one.state === null ? [] : [one.state]));
    const names = states.map((one) => this.aliasOf(one));
    const inside = states.length > 0 && states.every((one) => isWithin(one, source));
    const reenter = spec.reenter === true;
    if (inside && !reenter && (source.kind !== "compound" || states.includes(source)))
      this.losses.add(
        "a transition to itself that does not re-enter is an external one to other tools",
        source.name,
      );
    if (names.length > 0) attributes.target = names.join(" ");
    if (cond !== undefined) attributes.cond = cond;
    if (inside && !reenter) attributes.type = "internal";
    const { nodes, shape } = this.actions.block(spec.actions, source.name);
    const { actions: _actions, order: _order, ...own } = spec;
    const target = plainTarget(names);
    const read: TransitionObject = {
      ...(target === undefined ? {} : { target }),
      ...(readGuard === undefined ? {} : { guard: readGuard }),
      ...(inside && reenter ? { reenter } : {}),
    };
    // A transition written as its target alone stays one.
    const text = isText(list, transition.index) ? (own.target as string) : own;
    if (!same(read, text) || (when.kind === "invoke" && when.on === "onEvent"))
      attributes["ls:transition"] = asJson(text);
    attributes["ls:actions"] = shape;
    if (count === 1 && Array.isArray(list)) attributes["ls:list"] = "true";
    return xmlElement("transition", attributes, nodes);
  }

  /** In the order they are tried. */
  private transitionsOf(state: TreeState): TreeTransition[] {
    const order = ({ spec }: TreeTransition, index: number): number => spec.order ?? index;
    const all = this.bySource.get(state) ?? [];
    const sorted = (kind: TreeTransition["when"]["kind"]): TreeTransition[] =>
      all
        .filter(({ when }) => when.kind === kind)
        .map((one, index) => ({ one, at: order(one, index) }))
        .sort((a, b) => a.at - b.at)
        .map(({ one }) => one);
    return [
      ...all.filter(({ when }) => when.kind === "invoke" || when.kind === "done"),
      ...sorted("after"),
      ...sorted("event"),
      ...all.filter(({ when }) => when.kind === "always"),
    ];
  }

  private aliasOf(state: TreeState): string {
    return this.aliases.get(state) ?? "";
  }

  private alias(state: TreeState, name: string): void {
    this.aliases.set(state, name);
    this.taken.add(name);
    if (name !== state.name && state.name !== "")
      this.losses.add(
        `the name \`${state.name}\` cannot be an id in XML: other tools see \`${name}\``,
        state.name,
      );
  }

  private unused(word: string): string {
    let name = word;
    for (let copy = 2; this.taken.has(name); copy++) name = `${word}${copy}`;
    this.taken.add(name);
    return name;
  }
}

const isDataId = (id: string): boolean => id === id.trim() && id !== "" && id === xmlSafe(id);

function plainTarget(names: string[]): string | string[] | undefined {
  const targets = names.map((name) => `#${name}`);
  return targets.length > 1 ? targets : targets[0];
}

function isWithin(state: TreeState, ancestor: TreeState): boolean {
  for (let at: TreeState | null = state; at !== null; at = at.parent) if (at === ancestor) return true;
  return false;
}

/** The list a transition stands in, as written. */
function listOf({ source: { node }, when }: TreeTransition): unknown {
  switch (when.kind) {
    case "event":
      return node.on?.[when.event];
    case "after":
      return node.after?.[when.delay];
    case "always":
      return node.always;
    case "done":
      return node.onDone;
    case "invoke":
      return invokesOf(node)[when.index]?.[when.on];
  }
}

const isText = (list: unknown, index: number): boolean =>
  typeof (Array.isArray(list) ? list[index] : list) === "string";

/** Names go through JSON: attributes are trimmed and cannot hold every character. */
const asText = (text: string): string => JSON.stringify(text);
