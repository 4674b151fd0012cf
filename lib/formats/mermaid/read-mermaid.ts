/**
 * A Mermaid stateDiagram into a chart, as far as a drawing tells what a machine does.
 *
 * A state's id is its name, so that `In()` and configurations speak the diagram's words. Labels are `event [guard] /
 * actions`. Without a trigger a choice and a plain state leave at once (`always`), a composite one when it is done; where
 * that could not work (several such arrows, or a circle of them) the arrow waits for an event named like its target.
 * `a --> [*]` alone and unlabelled makes `a` final. An arrow from a state to itself leaves and enters it, as in UML.
 *
 * Holds: exporting the chart and importing it again gives the same chart; what is left out is named.
 */
import type { Chart, Invoke, StateNode, Transition, TransitionObject } from "@/lib/statechart/document";
import { refuse, type ImportResult } from "../import-result";
import { keyedTransitions, oneOrManyTransitions } from "../keyed-transitions";
import { celString } from "../literal";
import { isArrayIndex } from "../parse-json";
import { Reports } from "../reports";
import { readLabel, readStateLine, type Label } from "./labels";
import { Meanings } from "./meanings";
import { machineId, noteMark } from "./own-words";
import { scanMermaid, type Arrow, type Block, type Diagram, type ScannedState } from "./scan-mermaid";

export function readMermaid(text: string): ImportResult {
  const reports = new Reports();
  const diagram = scanMermaid(text, reports);
  if (diagram === null) return { format: "mermaid", chart: null, ...reports, name: null };
  if (diagram.states.size === 0)
    return refuse("mermaid", "no-states", "The diagram has no state: write `[*] --> a`.", {
      line: 1,
      column: 1,
    });
  return new MermaidReader(diagram, reports).read();
}

/** A state of the chart to be. */
interface Made {
  key: string;
  name: string;
  node: StateNode;
  parent: Made | null;
  children: Made[];
  scanned: ScannedState | null;
  invokes: Invoke[];
  pending: Pending[];
}

/** A transition before it is known what triggers it. */
interface Pending {
  label: Label;
  spec: TransitionObject;
  turn: number;
  arrow: Arrow | null;
  /** The state it leads to alone, for arrows without a trigger. */
  to: Made | null;
}

class MermaidReader {
  private readonly meanings: Meanings;
  private readonly homes = new Map<string, Block>();
  private readonly made = new Map<string, Made>();
  /** What a block's `[*]` belongs to. */
  private readonly owners = new Map<Block, Made>();
  private readonly incoming = new Map<string, Arrow[]>();
  private readonly outgoing = new Map<string, Arrow[]>();
  private readonly root: Made = emptyMade("", "", null, null);

  constructor(
    private readonly diagram: Diagram,
    private readonly reports: Reports,
  ) {
    this.meanings = new Meanings(reports);
    for (const state of diagram.states.values()) this.homes.set(state.id, homeOf(state));
    for (const arrow of diagram.arrows) {
      if (arrow.from !== null) listIn(this.outgoing, arrow.from).push(arrow);
      if (arrow.to !== null) listIn(this.incoming, arrow.to).push(arrow);
    }
  }

  read(): ImportResult {
    const { diagram, reports } = this;
    this.buildTree();
    for (const state of this.made.values()) this.readTexts(state);
    for (const arrow of diagram.arrows) this.readArrow(arrow);
    for (const state of new Set([this.root, ...this.made.values()])) this.settle(state);
    const named = diagram.title !== null && /^[\w.-]+$/.test(diagram.title) && !this.made.has(diagram.title);
    const chart: Chart = {
      lockstep: 1,
      ...(named && diagram.title !== null ? { id: diagram.title } : {}),
      ...(diagram.description === null || diagram.description === ""
        ? {}
        : { description: diagram.description }),
      ...this.finish(this.root),
      ...this.meanings.maps(),
    };
    const positions = Object.fromEntries(
      [...this.made.values()].flatMap(({ name, scanned }) => (scanned === null ? [] : [[name, scanned.at]])),
    );
    return { ...reports.result("mermaid", chart, diagram.title), positions };
  }

  // --- states

  private buildTree(): void {
    const { rootRegions } = this.diagram;
    const [only, ...others] = this.membersOf(this.diagram.root);
    const wraps = only?.id === machineId && others.length === 0 && rootRegions.length === 1;
    if (wraps) {
      this.root.scanned = only;
      this.made.set(machineId, this.root);
      this.owners.set(this.diagram.root, this.root);
    }
    this.fill(this.root, wraps ? only.regions : rootRegions);
  }

  private fill(parent: Made, regions: Block[]): void {
    const filled = regions
      .map((block) => ({ block, members: this.membersOf(block) }))
      .filter(
        ({ members, block }) =>
          members.length > 0 || this.diagram.arrows.some((arrow) => arrow.block === block),
      );
    for (const block of regions) this.owners.set(block, parent);
    const [first] = filled;
    if (filled.length > 1) {
      parent.node.type = "parallel";
      filled.forEach(({ block, members }, index) => {
        const [alone] = members;
        const arrows = this.diagram.arrows.filter((arrow) => arrow.block === block);
        const startsIt = arrows.every(
          ({ from, to, label }) => from === null && to === alone?.id && label.trim() === "",
        );
        if (members.length === 1 && alone !== undefined && startsIt) this.add(parent, alone);
        else {
          const region = emptyMade(
            `region${index + 1}`,
            childName(parent, `region${index + 1}`),
            parent,
            null,
          );
          parent.children.push(region);
          this.owners.set(block, region);
          this.made.set(`${region.name}\0`, region);
          for (const member of members) this.add(region, member);
        }
      });
    } else for (const member of first?.members ?? []) this.add(parent, member);
  }

  private membersOf(block: Block): ScannedState[] {
    return [...this.diagram.states.values()].filter(
      (state) => this.homes.get(state.id) === block && !isBar(state),
    );
  }

  private add(parent: Made, scanned: ScannedState): void {
    const { id } = scanned;
    const prefix = parent.name === "" ? "" : `${parent.name}.`;
    const rest = id.startsWith(prefix) ? id.slice(prefix.length) : id;
    const plain = id.startsWith(prefix) && !rest.includes(".") && rest !== "";
    const state = emptyMade(plain ? rest : id, id, parent, scanned);
    if (!plain) state.node.id = id;
    parent.children.push(state);
    this.made.set(id, state);
    if (scanned.kind === null) this.fill(state, scanned.regions);
  }

  /** What stands beside a state: actions on entry and exit, invocations, transitions inside, and words. */
  private readTexts(state: Made): void {
    const { scanned, node } = state;
    if (scanned === null) return;
    const isTitle = (text: string): boolean =>
      text === scanned.id || text === state.key || (scanned.id === machineId && text === this.diagram.title);
    const titles = scanned.titles.filter(({ text }, index) => index > 0 || !isTitle(text));
    const [mark] = titles;
    if (titles.length === 1 && (mark?.text === "H" || mark?.text === "H*") && state.children.length === 0) {
      node.type = "history";
      node.history = mark.text === "H" ? "shallow" : "deep";
      titles.length = 0;
    }
    const lines = [
      ...titles.flatMap(({ text, turn }) => text.split("\n").map((line) => ({ line, turn }))),
      ...scanned.notes.flatMap((note) => note.split("\n").map((line) => ({ line, turn: -1 }))),
    ];
    // Invocations first: labels name them.
    const read = lines.map(({ line, turn }) => ({ line, turn, said: readStateLine(line.trim(), []) }));
    for (const { said } of read) {
      if (said?.kind !== "invoke") continue;
      const src = builtIn.has(said.src) ? said.src : this.reports.placeholder(said.src);
      state.invokes.push({ src, ...(said.id === null ? {} : { id: said.id }) });
    }
    const words: string[] = [];
    const moments = { entry: [] as string[], exit: [] as string[] };
    for (const { line, turn, said } of read) {
      if (line.startsWith(noteMark))
        this.reports.lose(`The note on \`${scanned.id}\` tells what the drawing could not: it is left out.`, {
          state: state.name,
          ...scanned.at,
        });
      else if (said === null) words.push(line);
      else if (said.kind === "entry" || said.kind === "exit") moments[said.kind].push(...said.actions);
      else if (said.kind === "internal") {
        const again = readStateLine(line.trim(), state.invokes);
        const label = again?.kind === "internal" ? again.label : said.label;
        state.pending.push({ label, spec: this.specOf(label), turn, arrow: null, to: null });
      }
    }
    for (const field of ["entry", "exit"] as const) {
      const actions = this.meanings.actionsOf(moments[field]);
      if (actions !== undefined) node[field] = actions;
    }
    const description = words.join("\n").trim();
    if (description !== "") node.description = description;
  }

  // --- arrows

  private readArrow(arrow: Arrow): void {
    const { from, to, label } = arrow;
    if (from === null) return this.readInitial(arrow);
    const source = this.diagram.states.get(from);
    // Bars are read with the arrows that lead to them.
    if (source === undefined || isBar(source)) return;
    const state = this.made.get(from);
    if (state === undefined) return;
    if (state.node.type === "history") return this.readDefault(state, arrow);
    const read = this.labelOf(state, label);
    const aim = to === null ? null : this.diagram.states.get(to);
    if (aim?.kind === "join" && (this.incoming.get(aim.id)?.length ?? 0) > 1) {
      this.readJoin(state, read, arrow, aim);
      return;
    }
    if (to === null && this.makesFinal(state, arrow)) {
      state.node.type = "final";
      return;
    }
    const targets = to === null ? [this.endOf(arrow.block)] : this.targetsOf(to, arrow);
    this.push(state, read, targets, arrow);
  }

  private push(state: Made, label: Label, targets: Made[], arrow: Arrow): void {
    if (targets.length === 0) return;
    const spec = this.specOf(label);
    const texts = targets.map((target) => targetText(state, target));
    spec.target = texts.length === 1 ? (texts[0] ?? "") : texts;
    if (targets.length === 1 && targets[0] === state) spec.reenter = true;
    state.pending.push({
      label,
      spec,
      turn: arrow.turn,
      arrow,
      to: targets.length === 1 ? (targets[0] ?? null) : null,
    });
  }

  /** What comes out of a choice is a condition, in brackets or not. */
  private labelOf(state: Made, text: string): Label {
    const label = readLabel(text, state.invokes);
    if (state.scanned?.kind !== "choice") return label;
    if (label.when === null) return { ...label, guard: withoutElse(label.guard) };
    const words = text.replace(/\s+/g, " ").trim();
    if (label.when.kind === "always") return label;
    const { event = words } = label.when.kind === "event" ? label.when : {};
    const bare = (label.guard === null && event !== "" ? event : words).replace(/^if\s+/i, "");
    return { when: null, guard: withoutElse(bare), actions: label.guard === null ? label.actions : [] };
  }

  private specOf({ guard, actions }: Label): TransitionObject {
    const spec: TransitionObject = {};
    if (guard !== null && guard !== "else") spec.guard = this.meanings.guard(guard);
    const written = this.meanings.actionsOf(actions);
    if (written !== undefined) spec.actions = written;
    return spec;
  }

  /** The states an arrow to `id` enters: through a bar, all that it leads to. */
  private targetsOf(id: string, arrow: Arrow): Made[] {
    const scanned = this.diagram.states.get(id);
    if (scanned === undefined || !isBar(scanned)) {
      const state = this.made.get(id);
      return state === undefined ? [] : [state];
    }
    const targets: Made[] = [];
    for (const next of this.outgoing.get(id) ?? []) {
      const state = next.to === null ? this.endOf(next.block) : this.made.get(next.to);
      if (state === undefined) this.lose(`the bar \`${id}\` leads to another bar`, next);
      else if (targets.some((other) => !areApart(other, state)))
        this.lose(`\`${id}\` leads to states that are never active together`, next);
      else targets.push(state);
      if (next.label.trim() !== "") this.lose(`the label after the bar \`${id}\``, next);
    }
    if (targets.length === 0) this.lose(`\`${id}\` leads nowhere`, arrow);
    return targets;
  }

  /** All of the bar's sources at once: each source's transition asks whether the others are active too. */
  private readJoin(state: Made, label: Label, arrow: Arrow, bar: ScannedState): void {
    const sources = (this.incoming.get(bar.id) ?? []).flatMap(({ from }) => this.made.get(from ?? "") ?? []);
    const others = sources.filter((other) => other !== state);
    if (others.some((other) => !areApart(other, state)))
      return this.lose(`\`${bar.id}\` joins states that are never active together`, arrow);
    const labels = (this.incoming.get(bar.id) ?? []).map((one) => readLabel(one.label, state.invokes));
    const first = this.incoming.get(bar.id)?.[0];
    // Without triggers one transition says it all.
    if (labels.every(({ when }) => when === null) && first !== arrow) return;
    for (const next of this.outgoing.get(bar.id) ?? []) {
      const after = readLabel(next.label, state.invokes);
      const guards = [label.guard, after.guard, ...others.map(({ name }) => `In(${celString(name)})`)];
      const targets = next.to === null ? [this.endOf(next.block)] : this.targetsOf(next.to, next);
      this.push(
        state,
        {
          when: label.when ?? after.when ?? { kind: "always" },
          guard: guards
            .filter((guard) => guard !== null)
            .map((guard) => (/^[\w.]+(?:\('[^']*'\))?$/.test(guard) ? guard : `(${guard})`))
            .join(" && "),
          actions: [...label.actions, ...after.actions],
        },
        targets,
        next,
      );
    }
  }

  private readInitial(arrow: Arrow): void {
    const owner = this.owners.get(arrow.block) ?? this.root;
    if (owner.node.type === "parallel" || (owner === this.root && arrow.to === machineId)) return;
    const targets = arrow.to === null ? [] : this.targetsOf(arrow.to, arrow);
    const inside = targets.filter((target) => isInside(target, owner));
    if (inside.length === 0) return this.lose("[*] leads out of the state it stands in", arrow);
    if (owner.node.initial !== undefined)
      return this.lose("there is a [*] --> before it, and a state starts in one way", arrow);
    const label = readLabel(arrow.label, []);
    if (label.when !== null && label.when.kind !== "always") this.lose("a start has no trigger", arrow);
    if (label.guard !== null) this.lose("a start has no guard", arrow);
    const texts = inside.map((target) =>
      target.parent === owner && !target.key.includes(".") ? target.key : `#${target.name}`,
    );
    const target = texts.length === 1 ? (texts[0] ?? "") : texts;
    const actions = this.meanings.actionsOf(label.actions);
    owner.node.initial = actions === undefined ? target : { target, actions };
  }

  private readDefault(state: Made, arrow: Arrow): void {
    const home = state.parent ?? this.root;
    const targets = arrow.to === null ? [] : this.targetsOf(arrow.to, arrow);
    if (state.node.target !== undefined || targets.length === 0)
      return this.lose("a history state has one default", arrow);
    const texts = targets.map((target) =>
      target.parent === home && !target.key.includes(".") ? target.key : `#${target.name}`,
    );
    const target = texts.length === 1 ? (texts[0] ?? "") : texts;
    const actions = this.meanings.actionsOf(readLabel(arrow.label, []).actions);
    state.node.target = actions === undefined ? target : { target, actions };
  }

  private makesFinal(state: Made, arrow: Arrow): boolean {
    const { scanned, node } = state;
    return (
      scanned !== null &&
      arrow.label.trim() === "" &&
      state.children.length === 0 &&
      state.invokes.length === 0 &&
      state.pending.length === 0 &&
      scanned.kind === null &&
      node.type === undefined &&
      state.parent !== null &&
      this.homes.get(scanned.id) === arrow.block &&
      this.outgoing.get(scanned.id)?.length === 1
    );
  }

  /** The final state that `[*]` means where something ends by a labelled arrow. */
  private endOf(block: Block): Made {
    const owner = this.owners.get(block) ?? this.root;
    const found = owner.children.find(({ scanned, node }) => scanned === null && node.type === "final");
    if (found !== undefined) return found;
    const taken = new Set(owner.children.map(({ key }) => key));
    let key = "end";
    for (let copy = 2; taken.has(key) || this.made.has(childName(owner, key)); copy++) key = `end${copy}`;
    const end = emptyMade(key, childName(owner, key), owner, null);
    end.node.type = "final";
    owner.children.push(end);
    this.made.set(end.name, end);
    return end;
  }

  // --- triggers

  private settle(state: Made): void {
    const { node, pending, invokes } = state;
    pending.sort((a, b) => a.turn - b.turn);
    // Mermaid shows what is inside a composite state apart from its arrows, so that no order joins the two.
    if (state.children.length > 0) {
      const inner = pending.filter(({ arrow }) => arrow === null);
      if (inner.some((one) => pending.indexOf(one) >= inner.length))
        this.reports.lose(`What is inside \`${state.name}\` is tried before its arrows.`, {
          state: state.name,
        });
      pending.sort((a, b) => Number(a.arrow !== null) - Number(b.arrow !== null));
    }
    const isChoice = state.scanned?.kind === "choice";
    const found = pending.map((one) => ({ one, when: one.label.when ?? this.triggerOf(state, one) }));
    const pick = (kind: string): typeof found => found.filter(({ when }) => when.kind === kind);
    const on = keyedTransitions(
      pick("event").map(({ one, when }) => ({
        key: when.kind === "event" ? when.event : "",
        transition: plain(one.spec),
      })),
    );
    const after = keyedTransitions(
      pick("after").map(({ one, when }) => ({
        key: this.meanings.delay(when.kind === "after" ? when.delay : ""),
        transition: plain(one.spec),
      })),
    );
    const list = (kind: string): { transition: Transition }[] =>
      pick(kind).map(({ one }) => ({ transition: plain(one.spec) }));
    const eventless = pick("always").map(({ one }) => one.spec);
    // Of a choice, the way without a condition is the last.
    const ordered = isChoice
      ? [
          ...eventless.filter(({ guard }) => guard !== undefined),
          ...eventless.filter(({ guard }) => guard === undefined),
        ]
      : eventless;
    const always = oneOrManyTransitions(ordered.map((spec) => ({ transition: plain(spec) })));
    const onDone = oneOrManyTransitions(list("done"));
    if (on !== undefined) node.on = on;
    if (after !== undefined) node.after = after;
    if (always !== undefined) node.always = always;
    if (onDone !== undefined) node.onDone = onDone;
    invokes.forEach((invoke, index) => {
      for (const field of ["onDone", "onError", "onEvent"] as const) {
        const own = found.filter(
          ({ when }) => when.kind === "invoke" && when.index === index && when.on === field,
        );
        const transitions = oneOrManyTransitions(own.map(({ one }) => ({ transition: plain(one.spec) })));
        if (transitions !== undefined) invoke[field] = transitions;
      }
    });
    const [first] = invokes;
    if (first !== undefined) node.invoke = invokes.length === 1 ? first : invokes;
  }

  private triggerOf(state: Made, one: Pending): NonNullable<Label["when"]> {
    if (state.children.length > 0) return { kind: "done" };
    if (state.scanned?.kind === "choice" || one.label.guard !== null) return { kind: "always" };
    const blind = state.pending.filter(isBlind);
    if (blind.length === 1 && !this.leadsBack(state)) return { kind: "always" };
    const event = one.to?.scanned?.id ?? one.to?.key ?? "next";
    const arrow = `${state.scanned?.id ?? state.name} --> ${one.arrow?.to ?? "[*]"}`;
    this.reports.lose(
      `\`${arrow}\` has no label, and at once would be too early: it waits for an event \`${event}\`.`,
      {
        state: state.name,
        ...one.arrow?.at,
      },
    );
    return { kind: "event", event };
  }

  /** Whether arrows without trigger and guard lead round in a circle. */
  private leadsBack(start: Made): boolean {
    const seen = new Set<Made>();
    let at: Made | null = start;
    while (at !== null && !seen.has(at)) {
      seen.add(at);
      const blind: Pending[] = at.pending.filter(isBlind);
      let next: Made | null = blind.length === 1 ? (blind[0]?.to ?? null) : null;
      while (next !== null && next.children.length > 0) {
        const inner: string | null = typeof next.node.initial === "string" ? next.node.initial : null;
        next = next.children.find(({ key, name }) => key === inner || `#${name}` === inner) ?? null;
      }
      at = next;
    }
    return at !== null;
  }

  // --- the document

  private finish(state: Made): StateNode {
    const { node, children } = state;
    if (children.length === 0) return node;
    if (node.type !== "parallel" && node.initial === undefined) {
      const first = children.find((child) => child.node.type !== "history") ?? children[0];
      if (first !== undefined) node.initial = first.key.includes(".") ? `#${first.name}` : first.key;
      this.reports.lose(
        `Nothing says where ${state.name === "" ? "the diagram" : `\`${state.name}\``} starts: it starts in \`${first?.name ?? ""}\`.`,
        { state: state.name, ...state.scanned?.at },
      );
    }
    const ordered = children.some(({ key }) => isArrayIndex(key));
    node.states = {};
    children.forEach((child, order) => {
      if (node.states === undefined) return;
      if (Object.hasOwn(node.states, child.key))
        this.reports.error(
          "duplicate-id",
          `Two states of \`${state.name}\` are \`${child.key}\`: rename one.`,
          {
            state: child.name,
            ...child.scanned?.at,
          },
        );
      node.states[child.key] = { ...(ordered ? { order } : {}), ...this.finish(child) };
    });
    return node;
  }

  private lose(what: string, arrow: Arrow): void {
    const text = `${arrow.from ?? "[*]"} --> ${arrow.to ?? "[*]"}`;
    this.reports.lose(`\`${text}\` is left out, or a part of it: ${what}.`, arrow.at);
  }
}

/** What carries out these is known without a name. */
const builtIn: ReadonlySet<string> = new Set(["http", "lock", "chart", "each"]);

const emptyMade = (key: string, name: string, parent: Made | null, scanned: ScannedState | null): Made => ({
  key,
  name,
  node: {},
  parent,
  children: [],
  scanned,
  invokes: [],
  pending: [],
});

const childName = (parent: Made, key: string): string => (parent.name === "" ? key : `${parent.name}.${key}`);
const isBar = ({ kind }: ScannedState): boolean => kind === "fork" || kind === "join";
const isBlind = ({ label, arrow }: Pending): boolean =>
  arrow !== null && label.when === null && label.guard === null;
const withoutElse = (guard: string | null): string | null =>
  guard === null || /^(?:else|otherwise)$/i.test(guard) ? null : guard;

/** A state belongs where its braces stand, else into the innermost block that speaks of it. */
function homeOf(state: ScannedState): Block {
  const [own] = state.regions;
  if (own?.parent) return own.parent;
  const mentions = state.declared === null ? state.mentions : [state.declared, ...state.mentions];
  return mentions.reduce((best, block) => (block.depth > best.depth ? block : best));
}

function ancestors(state: Made): Made[] {
  const list: Made[] = [];
  for (let at: Made | null = state; at !== null; at = at.parent) list.push(at);
  return list;
}
const isInside = (state: Made, owner: Made): boolean => state !== owner && ancestors(state).includes(owner);

/** Whether both can be active at once, neither inside the other: they meet first in a parallel state. */
function areApart(a: Made, b: Made): boolean {
  const above = ancestors(a);
  const meeting = ancestors(b).find((state) => above.includes(state));
  return meeting !== undefined && meeting !== a && meeting !== b && meeting.node.type === "parallel";
}

function targetText(source: Made, target: Made): string {
  const isSibling = target.parent === source.parent && source.parent !== null;
  return isSibling && !target.key.includes(".") ? target.key : `#${target.name}`;
}

/** A transition that only has a target is written as it. */
function plain(spec: TransitionObject): Transition {
  const { target } = spec;
  return typeof target === "string" && Object.keys(spec).length === 1 ? target : spec;
}

function listIn<T>(map: Map<string, T[]>, key: string): T[] {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made: T[] = [];
  map.set(key, made);
  return made;
}
