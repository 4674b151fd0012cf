/**
 * A chart as a Mermaid stateDiagram-v2, to be read by people where Markdown is shown.
 *
 * A state goes by its name, or an alias where Mermaid has no such id. Every arrow stands in the innermost braces that hold
 * all arrows of its source, so that they keep their order and their ends keep their place. Several targets at once are a
 * fork, states that only choose are a choice, history is a state titled H or H*. What the drawing cannot tell is named as
 * a loss and stands in a note beside its state.
 *
 * Holds: a chart that came from Mermaid comes back the same; equal charts give equal texts.
 */
import type { Json } from "@/lib/base/json";
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
import type { Action, Actions, Chart, Guard, Invoke, OneOrMany, StateNode } from "@/lib/statechart/document";
import type { Loss } from "../import-result";
import { Losses } from "../losses";
import { printAction, printActions, printGuard, printStart, readStateLine } from "./labels";
import { isCel } from "./meanings";
import { encodeText } from "./mermaid-text";
import { machineId, noteMark } from "./own-words";

export function writeMermaid(chart: Chart): { text: string; losses: Loss[] } {
  const writer = new MermaidWriter(chart);
  return { text: writer.text(), losses: writer.losses.list };
}

/** What a plain region of Mermaid's cannot carry. */
const regionFields = new Set(["type", "initial", "states", "order"]);
const lostFields = ["tags", "output", "data", "meta"] as const;

class MermaidWriter {
  readonly losses = new Losses();
  private readonly tree: ChartTree;
  private readonly ids = new Map<TreeState, string>();
  private readonly taken = new Set<string>();
  private readonly bySource = new Map<TreeState, TreeTransition[]>();
  private readonly aimedAt = new Set<TreeState>();
  /** Lines of arrows, by the state in whose braces they stand. */
  private readonly arrows = new Map<TreeState, string[]>();
  /** Lines of final children. */
  private readonly ends = new Map<TreeState, string[]>();
  /** Lines inside a state: its compartment. */
  private readonly compartments = new Map<TreeState, string[]>();
  private readonly notes = new Map<TreeState, string[]>();
  private readonly wraps: boolean;
  private forks = 0;

  constructor(private readonly chart: Chart) {
    this.tree = chartTree(chart);
    const { root, states, transitions } = this.tree;
    for (const transition of transitions) {
      listIn(this.bySource, transition.source).push(transition);
      for (const { state } of transition.targets) if (state !== null) this.aimedAt.add(state);
    }
    const { node } = root;
    const rows = [node.entry, node.exit, node.invoke].some((field) => field !== undefined);
    this.wraps = root.kind === "parallel" || rows || this.bySource.has(root) || root.children.length === 0;
    for (const state of states) if (state !== root) this.name(state);
    this.ids.set(root, machineId);
  }

  text(): string {
    const { root, states } = this.tree;
    this.tellChart();
    for (const state of states) {
      this.readState(state);
      this.readTransitions(state);
    }
    const title =
      this.chart.id === undefined ? [] : ["---", `title: ${JSON.stringify(this.chart.id)}`, "---"];
    const body = this.wraps
      ? [
          ...this.state(root),
          `[*] --> ${machineId}`,
          ...(this.arrows.get(root) ?? []),
          ...this.notesOf([root]),
        ]
      : this.inside(root);
    const bare = title.map((line) => line.replace(/^title: "([\w.-]+)"$/, "title: $1"));
    const description = this.describe(root);
    return `${[...bare, "stateDiagram-v2", ...[...description, ...body].map((line) => `  ${line}`)].join("\n")}\n`;
  }

  private describe({ node: { description } }: TreeState): string[] {
    if (description === undefined) return [];
    const lines = description.split("\n").map((line) => encodeText(line).replaceAll("}", "#125;"));
    const isPlain = lines.every((line) => line !== "") && description.trim() !== "";
    if (!isPlain) this.losses.add("the description loses its empty lines");
    const kept = lines.filter((line) => line !== "");
    if (kept.length < 2) return kept.map((line) => `accDescr: ${line}`);
    return ["accDescr {", ...kept.map((line) => `  ${line}`), "}"];
  }

  // --- names

  private name(state: TreeState): void {
    const { name } = state;
    const fits =
      /^[\p{L}\p{N}_][\p{L}\p{N}_.]*$/u.test(name) &&
      !keyword.test(name) &&
      name !== machineId &&
      name !== "__proto__";
    let id = fits ? name : name.replace(/[^\p{L}\p{N}_]+/gu, "_") || "s";
    if (!fits && (keyword.test(id) || id === machineId || id === "__proto__")) id = `s_${id}`;
    const base = id;
    for (let copy = 2; this.taken.has(id) || (id !== name && this.tree.byName.has(id)); copy++)
      id = `${base}_${copy}`;
    this.taken.add(id);
    this.ids.set(state, id);
    if (id !== name) this.lose(state, `the state is called \`${id}\` there`);
    const parent = state.parent?.parent ? `${state.parent.name}.` : "";
    const keyOnReturn =
      name.startsWith(parent) && !name.slice(parent.length).includes(".") ? name.slice(parent.length) : name;
    if (id === name && keyOnReturn !== state.key)
      this.losses.add(`the key \`${state.key}\` of the state is \`${keyOnReturn}\` there`, name);
  }

  private id(state: TreeState): string {
    return this.ids.get(state) ?? machineId;
  }

  // --- what is not drawn

  private lose(state: TreeState, message: string, inNote = message): void {
    this.losses.add(message, state.name);
    const lines = listIn(this.notes, state);
    const line = `${noteMark}${inNote}`;
    if (!lines.includes(line)) lines.push(line);
  }

  private tellChart(): void {
    const { chart } = this;
    for (const field of ["context", "schemas", "tasks", "settings"] as const)
      if (chart[field] !== undefined) this.losses.add(`\`${field}\` is left out`);
    for (const field of ["guards", "actions", "delays"] as const)
      for (const [name, meaning] of Object.entries(chart[field] ?? {})) {
        const isOpen = typeof meaning === "object" && !Array.isArray(meaning) && "placeholder" in meaning;
        if (!isOpen)
          this.losses.add(`what \`${name}\` of \`${field}\` means is left out: only the name is written`);
      }
  }

  private readState(state: TreeState): void {
    const { node, kind } = state;
    for (const field of lostFields)
      if (node[field] !== undefined)
        this.lose(state, `\`${field}\` is left out`, `${field}: ${short(node[field])}`);
    const lines = listIn(this.compartments, state);
    for (const field of ["entry", "exit"] as const) {
      const texts = this.actions(state, node[field]);
      if (texts !== "") lines.push(`${field} / ${texts}`);
    }
    for (const invoke of invokesOf(node)) lines.push(this.invoke(state, invoke));
    if (node.description !== undefined && state.parent !== null) {
      const words = node.description.trim();
      const parts = words.split("\n");
      const reads = parts.every(
        (line) => readStateLine(line.trim(), []) === null && !line.startsWith(noteMark),
      );
      const isTitle = words === state.key || words === this.id(state) || /^H\*?$/.test(words);
      if (!reads || isTitle || words !== node.description || words === "")
        this.losses.add("the description reads as something else there", state.name);
      lines.push(...parts.filter((line) => line.trim() !== "" || parts.length > 1));
    }
    if (kind === "history" && state.children.length > 0)
      this.lose(state, "states in a history state are left out");
  }

  private invoke(state: TreeState, invoke: Invoke): string {
    const { src, id, onDone: _done, onError: _error, onEvent: _event, ...rest } = invoke;
    const name = typeof src === "string" ? src : src.placeholder;
    if (typeof src === "string" && !["http", "lock", "chart", "each"].includes(src))
      this.losses.add(`that the task \`${src}\` has an implementation is left out`, state.name);
    for (const [field, value] of Object.entries(rest))
      this.lose(
        state,
        `\`${field}\` of the invocation \`${name}\` is left out`,
        `${name} ${field}: ${short(value)}`,
      );
    if (id !== undefined && /\s/.test(id)) this.lose(state, `the id \`${id}\` of the invocation is left out`);
    const given = id !== undefined && !/\s/.test(id) ? ` ${id}` : "";
    return `invoke${given} / ${name.replace(/\s+/g, " ").trim()}`;
  }

  private actions(state: TreeState, actions: Actions | undefined): string {
    const printed = many<Action>(actions).map((action) => ({ action, ...printAction(action, isCel) }));
    for (const { action, texts, exact } of printed)
      if (!exact) this.lose(state, `\`${texts.join(", ")}\` is written in short`, short(action));
    return printActions(printed.flatMap(({ texts }) => texts));
  }

  private guard(state: TreeState, guard: Guard | undefined): string | null {
    if (guard === undefined) return null;
    const { text, exact } = printGuard(guard);
    const plainText = exact ? text : text.replace(/[[\]]/g, "");
    if (!exact) this.lose(state, `the guard \`${text}\` is written in short`, short(guard));
    return plainText === "" || plainText === "else" ? "true" : plainText;
  }

  // --- arrows

  private readTransitions(state: TreeState): void {
    const { node, kind } = state;
    if (kind === "history") return this.readDefault(state);
    const all = this.inOrder(state);
    const block = this.blockOf(state, all);
    const isChoice = this.isChoice(state);
    const invokes = invokesOf(node);
    let turn = 0;
    const arrowTurns = new Map<string, number>();
    for (const transition of all) {
      turn++;
      const { when, spec, targets } = transition;
      const known = targets.flatMap((target) => target.state ?? []);
      for (const { text, state: found } of targets)
        if (found === null) this.lose(state, `the target \`${text}\` leads nowhere`);
      if (spec.description !== undefined)
        this.lose(state, "the description of a transition is left out", spec.description);
      if (spec.meta !== undefined) this.lose(state, "`meta` of a transition is left out", short(spec.meta));
      const guard = this.guard(state, spec.guard);
      const actions = this.actions(state, spec.actions);
      const isDefault = when.kind === "always" && (isChoice || guard !== null) && state.children.length === 0;
      const start = isDefault ? null : printStart(when, invokes);
      const label = [start, guard === null ? null : `[${guard}]`, actions === "" ? null : `/ ${actions}`]
        .filter((part) => part !== null)
        .join(" ");
      if (known.length === 0) {
        const line = `${isDefault ? "always " : ""}${label}${actions === "" ? " /" : ""}`;
        if (state.children.length > 0 && (arrowTurns.get(when.kind) ?? 0) > 0)
          this.losses.add("transitions inside the state come before its arrows there", state.name);
        if (state.children.length > 0) listIn(this.compartments, state).push(line);
        else listIn(this.arrows, block).push(`${this.id(state)} : ${encodeText(line)}`);
        continue;
      }
      arrowTurns.set(when.kind, turn);
      this.tellReenter(state, known, spec.reenter === true);
      this.arrow(block, this.id(state), known, label);
    }
    if (kind === "final" && state.parent !== null) {
      const own = this.bySource.has(state) || invokesOf(node).length > 0;
      if (own) this.lose(state, "that the state is final is left out, for it has transitions or invocations");
      else listIn(this.ends, state.parent).push(`${this.id(state)} --> [*]`);
    }
  }

  private tellReenter(state: TreeState, targets: readonly TreeState[], reenter: boolean): void {
    const self = targets.length === 1 && targets[0] === state;
    if (self && !reenter) this.lose(state, "an arrow to the state itself enters it anew there");
    if (!self && reenter && targets.some((target) => isInside(target, state)))
      this.lose(state, "that a transition to a state inside enters this one anew is left out");
  }

  private readDefault(state: TreeState): void {
    const home = state.parent ?? this.tree.root;
    const targets = initialTargets(state.node.target).flatMap(
      (text) => resolveInside(this.tree, home, text) ?? [],
    );
    const written = state.node.target;
    const actions =
      typeof written === "object" && !Array.isArray(written) ? this.actions(state, written.actions) : "";
    if (targets.length > 0)
      this.arrow(this.bracesOf(home), this.id(state), targets, actions === "" ? "" : `/ ${actions}`);
  }

  private arrow(block: TreeState, from: string, targets: readonly TreeState[], label: string): void {
    const lines = listIn(this.arrows, block);
    const text = label === "" ? "" : ` : ${encodeText(label)}`;
    const [only] = targets;
    if (targets.length === 1 && only !== undefined) {
      lines.push(`${from} --> ${this.id(only)}${text}`);
      return;
    }
    const fork = this.freeId("fork");
    lines.push(`state ${fork} <<fork>>`, `${from} --> ${fork}${text}`);
    for (const target of targets) lines.push(`${fork} --> ${this.id(target)}`);
  }

  private freeId(word: string): string {
    let id: string;
    do id = `${word}${++this.forks}`;
    while (this.taken.has(id) || this.tree.byName.has(id));
    this.taken.add(id);
    return id;
  }

  /** By kind; those of events and delays in the order in which they are tried. */
  private inOrder(state: TreeState): TreeTransition[] {
    const all = this.bySource.get(state) ?? [];
    return ["invoke", "done", "after", "event", "always"].flatMap((kind) => {
      const own = all.filter(({ when }) => when.kind === kind);
      const at = own.map((transition, index) => ({ transition, at: transition.spec.order ?? index }));
      return (kind === "invoke" ? at : at.sort((a, b) => a.at - b.at)).map(({ transition }) => transition);
    });
  }

  /** The innermost braces around a state and all that its arrows lead to. */
  private blockOf(state: TreeState, all: readonly TreeTransition[]): TreeState {
    let block = state.parent ?? state;
    for (const { targets } of all)
      for (const { state: target } of targets)
        while (
          target !== null &&
          block.parent !== null &&
          target.parent !== block &&
          !isInside(target, block)
        )
          block = block.parent;
    return this.bracesOf(block);
  }

  /** Between the regions of a parallel state no arrow can stand. */
  private bracesOf(block: TreeState): TreeState {
    let at = block;
    while (at.kind === "parallel" && at.parent !== null) at = at.parent;
    return at;
  }

  // --- lines

  private isChoice(state: TreeState): boolean {
    const { node, kind } = state;
    const all = this.bySource.get(state) ?? [];
    const isBare = Object.keys(node).every((field) => ["id", "order", "type", "always"].includes(field));
    const open = all.filter(({ spec }) => spec.guard === undefined);
    const targeted = all.every(({ targets, spec }) => targets.length > 0 && spec.reenter !== true);
    return (
      kind === "atomic" &&
      isBare &&
      all.length > 1 &&
      targeted &&
      (open.length === 0 || (open.length === 1 && open[0] === all.at(-1)))
    );
  }

  private title(state: TreeState, id: string): string {
    if (state.kind === "history") return state.node.history === "deep" ? "H*" : "H";
    if (state.parent === null) return this.chart.id ?? id;
    // A name of its own is what the chart speaks of it by.
    return state.node.id === id ? id : state.key;
  }

  /** What stands between a state's braces. */
  private inside(state: TreeState): string[] {
    if (state.kind === "parallel")
      return state.children.flatMap((child, index) => [
        ...(index === 0 ? [] : ["--"]),
        ...(this.isPlainRegion(child, index)
          ? this.inside(child)
          : [...this.state(child), `[*] --> ${this.id(child)}`, ...this.notesOf([child])]),
      ]);
    const lines = state.children.flatMap((child) => this.state(child));
    const targets = initialTargets(state.node.initial).flatMap(
      (text) => resolveInside(this.tree, state, text) ?? [],
    );
    const written = state.node.initial;
    const actions =
      typeof written === "object" && !Array.isArray(written) ? this.actions(state, written.actions) : "";
    const start: string[] = [];
    if (targets.length > 0) {
      const before = this.arrows.get(state) ?? [];
      this.arrows.set(state, []);
      this.arrow(state, "[*]", targets, actions === "" ? "" : `/ ${actions}`);
      start.push(...(this.arrows.get(state) ?? []));
      this.arrows.set(state, before);
    }
    // The diagram's own arrows stand outside the state that stands for it.
    const own = state.parent === null && this.wraps ? [] : (this.arrows.get(state) ?? []);
    return [...lines, ...start, ...own, ...(this.ends.get(state) ?? []), ...this.notesOf(state.children)];
  }

  /** A region that Mermaid draws by its content alone, named by its place. */
  private isPlainRegion(state: TreeState, index: number): boolean {
    const { node, key, children } = state;
    const isArrow = (line: string): boolean => /^\S+ --> /.test(line);
    const arrows = [...(this.arrows.get(state) ?? []), ...(this.ends.get(state) ?? [])];
    // Alone in its region a state is taken for the region.
    const only = children.length === 1 && !arrows.some(isArrow);
    const isSimple =
      typeof node.initial === "string" && Object.keys(node).every((field) => regionFields.has(field));
    return (
      key === `region${index + 1}` &&
      state.kind === "compound" &&
      isSimple &&
      !this.aimedAt.has(state) &&
      !only
    );
  }

  private state(state: TreeState): string[] {
    const id = this.id(state);
    const { kind, children } = state;
    if (this.isChoice(state)) return [`state ${id} <<choice>>`];
    const title = this.title(state, id);
    const named = title === id ? id : `"${encodeText(title)}" as ${id}`;
    const compartment = this.compartments.get(state) ?? [];
    if (children.length === 0 || kind === "history")
      // Not `state id`: Mermaid would look for a brace as far as into the next line.
      return [
        title === id ? id : `state ${named}`,
        ...compartment.map((line) => `${id} : ${encodeText(line === "" ? " " : line)}`),
      ];
    return [`state ${named} {`, ...this.inside(state).map((line) => `  ${line}`), "}"];
  }

  /** Mermaid wants notes behind the arrows; the compartment of a state with states inside is one, for it is not drawn else. */
  private notesOf(states: readonly TreeState[]): string[] {
    return states.flatMap((state) => {
      const isLeaf = state.children.length === 0 || state.kind === "history";
      const lines = [
        ...(isLeaf ? [] : (this.compartments.get(state) ?? [])),
        ...(this.notes.get(state) ?? []),
      ];
      if (lines.length === 0) return [];
      return [`note right of ${this.id(state)}`, ...lines.map((line) => `  ${noteLine(line)}`), "end note"];
    });
  }
}

/** Ids that Mermaid's grammar takes for something else. */
const keyword =
  /^(?:state|note|default|class|classdef|style|click|href|scale|direction|hide|as|statediagram|acctitle|accdescr)\b/i;

const noteLine = (line: string): string =>
  encodeText(line).replace(
    /^(e)(nd\s+note)/i,
    (_, first: string, rest: string) => `#${first.charCodeAt(0)};${rest}`,
  );

const short = (value: Json | StateNode | OneOrMany<Action> | Guard): string => {
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
};

function isInside(state: TreeState, owner: TreeState): boolean {
  for (let at = state.parent; at !== null; at = at.parent) if (at === owner) return true;
  return false;
}

function listIn<K, T>(map: Map<K, T[]>, key: K): T[] {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made: T[] = [];
  map.set(key, made);
  return made;
}
