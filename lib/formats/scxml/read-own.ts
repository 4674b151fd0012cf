/**
 * SCXML that write-scxml.ts wrote: the plain elements by the importer's rules where they say it all, else what our own
 * attributes kept (own-names.ts).
 *
 * Event names are exact here (`a` is `a`, not `a.*`), and a transition inside its source re-enters it unless it is
 * internal. Holds: nothing of the attributes is trusted; the chart passes the same check of shape as any other.
 */
import { isJsonObject, type JsonObject } from "@/lib/base/json";
import type {
  Action,
  Actions,
  Chart,
  Invoke,
  StateNode,
  Transition,
  TransitionObject,
} from "@/lib/statechart/document";
import { keyedTransitions, oneOrManyTransitions, type KeyedTransition } from "../keyed-transitions";
import { isArrayIndex } from "../parse-json";
import { readData } from "./datamodel";
import { readBlock, readBlocks } from "./executable";
import { readInvoke, readPayload } from "./read-send";
import { targetsOf } from "./read-transitions";
import type { XmlElement } from "./read-xml";
import { attribute, childrenNamed, ownJson, words, type Reading } from "./reading";
import { stateElements } from "./state-ids";

export function readOwnDocument(reading: Reading, root: XmlElement): Chart {
  const context: JsonObject = {};
  readData(reading, root, context, false);
  const element = root.children.find((child) => child.own.has("root")) ?? root;
  const kept = ownObject(reading, root, "chart");
  const node = readNode(reading, element, context);
  if (isJsonObject(kept.context)) Object.assign(context, kept.context);
  const hasContext = kept.context !== undefined || Object.keys(context).length > 0;
  return { ...node, ...kept, lockstep: 1, ...(hasContext ? { context } : {}) };
}

function readNode(reading: Reading, element: XmlElement, context: JsonObject): StateNode {
  const node: StateNode = {};
  const isRoot = element.name === "scxml";
  if (element.name === "parallel" || element.name === "final" || element.name === "history")
    node.type = element.name;
  if (!element.own.has("unnamed")) {
    const name = ownJson(reading, element, "name");
    const id = typeof name === "string" ? name : attribute(element, isRoot ? "name" : "id");
    if (id !== null) node.id = id;
  }
  if (!isRoot) {
    const data = readData(reading, element, context, true);
    if (data !== undefined) node.data = data;
  }
  const states = readStates(reading, element, context);
  if (states !== null) node.states = states;
  readArrow(reading, element, node);
  for (const [field, name] of [
    ["entry", "onentry"],
    ["exit", "onexit"],
  ] as const) {
    const blocks = childrenNamed(reading, element, name).filter((block) => !block.own.has("skip"));
    const [only] = blocks;
    const actions =
      blocks.length === 1 && only !== undefined ? ownBlock(reading, only) : readBlocks(reading, blocks);
    if (actions !== undefined && (!Array.isArray(actions) || actions.length > 0)) node[field] = actions;
  }
  const [donedata] = childrenNamed(reading, element, "donedata");
  if (donedata !== undefined) {
    const output = ownJson(reading, donedata, "output") ?? readPayload(reading, donedata, donedata.at);
    if (output !== undefined) node.output = output;
  }
  readOwnTransitions(reading, element, node);
  const rest = ownObject(reading, element, "state");
  for (const [field, value] of Object.entries(rest)) {
    const built = (node as JsonObject)[field];
    // Maps of transitions and late data are kept in part only.
    Object.assign(node, {
      [field]: isJsonObject(value) && isJsonObject(built) ? { ...value, ...built } : value,
    });
    if (field === "data" && isJsonObject(value) && isJsonObject(built)) node.data = { ...built, ...value };
  }
  for (const field of words(element.own.get("absent") ?? null)) delete (node as JsonObject)[field];
  return node;
}

function readStates(
  reading: Reading,
  parent: XmlElement,
  context: JsonObject,
): Record<string, StateNode> | null {
  const found = parent.children
    .filter((child) => child.uri === reading.uri && stateElements.has(child.name) && !child.own.has("skip"))
    .map((child) => {
      const key = ownJson(reading, child, "key");
      return { key: typeof key === "string" ? key : reading.ids.idOf(child), child };
    });
  if (found.length === 0) return null;
  const seen = new Set<string>();
  for (const { key, child } of found) {
    if (seen.has(key) || key === "__proto__")
      reading.reports.error("duplicate-id", `Two states have the key \`${key}\`, or it is none.`, child.at);
    seen.add(key);
  }
  const ordered = found.some(({ key }) => isArrayIndex(key));
  return Object.fromEntries(
    found.map(({ key, child }, index) => [
      key,
      { ...(ordered ? { order: index } : {}), ...readNode(reading, child, context) },
    ]),
  );
}

/** `initial`, or a history state's default. */
function readArrow(reading: Reading, element: XmlElement, node: StateNode): void {
  const field = element.name === "history" ? "target" : "initial";
  if (element.name === "history") node.history = attribute(element, "type") === "deep" ? "deep" : "shallow";
  const kept = ownJson(reading, element, "initial");
  if (kept !== undefined) {
    node[field] = kept as NonNullable<StateNode["initial"]>;
    return;
  }
  const holder = element.name === "history" ? element : childrenNamed(reading, element, "initial")[0];
  const arrow = holder === undefined ? undefined : childrenNamed(reading, holder, "transition")[0];
  // <scxml> names the state that stands for the root, not a child of it.
  const target = targetsOf(attribute(arrow ?? element, arrow === undefined ? "initial" : "target"));
  if (target === undefined) return;
  const actions = arrow === undefined ? [] : readBlock(reading, arrow);
  node[field] = actions.length === 0 ? target : { target, actions };
}

interface Found extends KeyedTransition {
  kind: string;
}

function readOwnTransitions(reading: Reading, element: XmlElement, node: StateNode): void {
  if (element.name === "history") return;
  const found = childrenNamed(reading, element, "transition")
    .filter((child) => !child.own.has("skip"))
    .map((child): Found => {
      const event = attribute(child, "event");
      const kept = ownJson(reading, child, "key");
      return {
        kind: child.own.get("kind") ?? (event === null ? "always" : "event"),
        key: typeof kept === "string" || typeof kept === "number" ? String(kept) : (event ?? ""),
        isList: child.own.has("list"),
        transition: readTransition(reading, element, child),
      };
    });
  const of = (kind: string): Found[] => found.filter((one) => one.kind === kind);
  const on = keyedTransitions(of("event"));
  if (on !== undefined) node.on = on;
  const after = keyedTransitions(of("after"));
  if (after !== undefined) node.after = after;
  const always = oneOrManyTransitions(of("always"));
  if (always !== undefined) node.always = always;
  const onDone = oneOrManyTransitions(of("onDone").filter(({ key }) => !/^\d+$/.test(key)));
  if (onDone !== undefined) node.onDone = onDone;
  const elements = childrenNamed(reading, element, "invoke");
  if (elements.length === 0) return;
  const invokes = elements.map((child, index): Invoke => {
    const kept = ownJson(reading, child, "invoke");
    const invoke = { ...(isJsonObject(kept) ? (kept as unknown as Invoke) : readInvoke(reading, child)) };
    const [finalize] = childrenNamed(reading, child, "finalize");
    const actions = finalize === undefined ? undefined : ownBlock(reading, finalize);
    if (actions !== undefined) invoke.finalize = actions;
    for (const field of ["onDone", "onError", "onEvent"] as const) {
      const list = oneOrManyTransitions(of(field).filter(({ key }) => key === String(index)));
      if (list !== undefined) invoke[field] = list;
    }
    return invoke;
  });
  const [first] = invokes;
  node.invoke =
    first !== undefined && invokes.length === 1 && elements[0]?.own.has("one") === true ? first : invokes;
}

function readTransition(reading: Reading, state: XmlElement, element: XmlElement): Transition {
  const kept = ownJson(reading, element, "transition");
  if (typeof kept === "string") return kept;
  const actions = ownBlock(reading, element);
  const transition: TransitionObject = isJsonObject(kept) ? { ...(kept as TransitionObject) } : {};
  if (kept === undefined) {
    const ids = words(attribute(element, "target"));
    const target = targetsOf(attribute(element, "target"));
    if (target !== undefined) transition.target = target;
    const cond = attribute(element, "cond");
    if (cond !== null) transition.guard = reading.expressions.guard(cond, element.at);
    const own = reading.ids.idOf(state);
    const inside = ids.length > 0 && ids.every((id) => id === own || reading.ids.isInside(id, state));
    if (inside && attribute(element, "type") !== "internal") transition.reenter = true;
  }
  if (actions !== undefined) transition.actions = actions;
  return transition;
}

/** A block in the shape it was written from. */
function ownBlock(reading: Reading, block: XmlElement): Actions | undefined {
  const actions = readBlock(reading, block);
  const shape = block.own.get("actions");
  const [first] = actions;
  if (shape === "one" && actions.length === 1 && first !== undefined) return first satisfies Action;
  return actions.length > 0 || shape === "none" ? actions : undefined;
}

function ownObject(reading: Reading, element: XmlElement, name: string): JsonObject {
  const value = ownJson(reading, element, name);
  return isJsonObject(value) ? value : {};
}
