/**
 * SCXML 1.0 into a chart.
 *
 * Ids, event names and document order stay the author's; `settings.scxmlDomain` says that undeclared names fail and that
 * transition domains follow SCXML where XState differs. Text of other languages is translated or kept as a placeholder,
 * never run.
 *
 * Holds: entities and DTDs are refused, nesting and size bounded (read-xml.ts); everything left out is named as a loss.
 */
import type { JsonObject } from "@/lib/base/json";
import type { Action, Chart, Invoke, StateNode, Target } from "@/lib/statechart/document";
import { refuse, type ImportResult } from "../import-result";
import { isArrayIndex } from "../parse-json";
import { Reports } from "../reports";
import { readData } from "./datamodel";
import { readBlock, readBlocks } from "./executable";
import { Expressions } from "./expressions";
import { inferTypes } from "./infer-types";
import { readOwnDocument } from "./read-own";
import { finalizedNames, readInvoke, readPayload } from "./read-send";
import { readTransitions, targetsOf } from "./read-transitions";
import { readXml, type XmlElement } from "./read-xml";
import { attribute, childrenNamed, type Reading } from "./reading";
import { StateIds, stateElements } from "./state-ids";

const scxmlNamespace = "http://www.w3.org/2005/07/scxml";

export function readScxml(text: string, load: (src: string) => string | null = () => null): ImportResult {
  const parsed = readXml(text);
  if (!parsed.ok)
    return refuse("scxml", "bad-xml", `This is not well-formed XML: ${parsed.message}.`, parsed.at);
  const { root } = parsed;
  if (root.name !== "scxml" || (root.uri !== scxmlNamespace && root.uri !== ""))
    return refuse(
      "scxml",
      "not-scxml",
      `The root element is <${root.name}> of namespace "${root.uri}"; SCXML's is <scxml xmlns="${scxmlNamespace}">.`,
      root.at,
    );
  const reports = new Reports();
  const datamodel = (attribute(root, "datamodel") ?? "").trim().toLowerCase();
  const language = datamodel === "" || datamodel === "null" ? "ecmascript" : datamodel;
  const reading: Reading = {
    reports,
    expressions: new Expressions(datamodel, reports, inferTypes(root, language)),
    ids: new StateIds(root, reports),
    uri: root.uri,
    load,
    rootEntry: [],
    isOurs: root.own.get("version") === "1",
  };
  const name = attribute(root, "name");
  const chart = reading.isOurs ? readOwnDocument(reading, root) : readDocument(reading, root);
  return { ...reports.result("scxml", chart, name), positions: reading.ids.positions() };
}

function readDocument(reading: Reading, root: XmlElement): Chart {
  const late = attribute(root, "binding") === "late";
  const context: JsonObject = {};
  // Data of the document itself gets its value at start with either binding.
  readData(reading, root, context, false);
  const scripts = childrenNamed(reading, root, "script").flatMap((script) =>
    readBlock(reading, { ...root, children: [script] }),
  );
  const states = readChildren(reading, root, context, late);
  const chart: Chart = { lockstep: 1, settings: { scxmlDomain: true } };
  if (Object.keys(context).length > 0) chart.context = context;
  const entry: Action[] = [...reading.rootEntry, ...scripts];
  if (entry.length > 0) chart.entry = entry;
  const initial = targetsOf(attribute(root, "initial")) ?? firstChild(reading, root);
  if (initial !== undefined) chart.initial = initial;
  chart.states = states;
  if (Object.keys(states).length === 0)
    reading.reports.error(
      "no-states",
      "<scxml> holds no state: add a <state>, <parallel> or <final>.",
      root.at,
    );
  return chart;
}

function readChildren(
  reading: Reading,
  parent: XmlElement,
  context: JsonObject,
  late: boolean,
): Record<string, StateNode> {
  const states: Record<string, StateNode> = {};
  const elements = parent.children.filter(
    (child) => child.uri === reading.uri && stateElements.has(child.name),
  );
  const ordered = elements.some((element) => isArrayIndex(reading.ids.idOf(element)));
  elements.forEach((element, index) => {
    const id = reading.ids.idOf(element);
    if (id === "") return;
    const node = readState(reading, element, context, late);
    states[id] = { id, ...(ordered ? { order: index } : {}), ...node };
  });
  noteUnknown(reading, parent);
  return states;
}

const known = new Set(
  "state parallel final history initial transition onentry onexit datamodel invoke donedata script".split(
    " ",
  ),
);

function noteUnknown(reading: Reading, parent: XmlElement): void {
  for (const child of parent.children)
    if (child.uri !== reading.uri || !known.has(child.name))
      reading.reports.lose(`<${child.name}> inside <${parent.name}> is no SCXML and was left out.`, child.at);
}

function readState(reading: Reading, element: XmlElement, context: JsonObject, late: boolean): StateNode {
  if (element.name === "history") return readHistory(reading, element);
  const node: StateNode = {};
  if (element.name === "parallel" || element.name === "final") node.type = element.name;
  const data = readData(reading, element, context, late);
  if (data !== undefined) node.data = data;
  const states = readChildren(reading, element, context, late);
  if (Object.keys(states).length > 0) node.states = states;
  if (element.name === "state" && node.states !== undefined) readInitial(reading, element, node);
  const entry = readBlocks(reading, childrenNamed(reading, element, "onentry"));
  if (entry.length > 0) node.entry = entry;
  const exit = readBlocks(reading, childrenNamed(reading, element, "onexit"));
  if (exit.length > 0) node.exit = exit;
  Object.assign(node, readTransitions(reading, element));
  const invoke = childrenNamed(reading, element, "invoke").map((child) => withFinalize(reading, child));
  if (invoke.length > 0) node.invoke = invoke;
  const [donedata] = childrenNamed(reading, element, "donedata");
  const output = donedata === undefined ? undefined : readPayload(reading, donedata, donedata.at);
  if (output !== undefined) node.output = output;
  return node;
}

function readInitial(reading: Reading, element: XmlElement, node: StateNode): void {
  const [initial] = childrenNamed(reading, element, "initial");
  const [transition] = initial === undefined ? [] : childrenNamed(reading, initial, "transition");
  if (transition !== undefined) {
    const target = targetsOf(attribute(transition, "target"));
    if (target !== undefined) node.initial = withActions(reading, target, transition);
    return;
  }
  const target = targetsOf(attribute(element, "initial")) ?? firstChild(reading, element);
  if (target !== undefined) node.initial = target;
}

/** SCXML 3.3: without `initial`, the first child state in document order. */
function firstChild(reading: Reading, element: XmlElement): Target | undefined {
  const [first] = childrenNamed(reading, element, "state", "parallel", "final");
  return first === undefined ? undefined : `#${reading.ids.idOf(first)}`;
}

function readHistory(reading: Reading, element: XmlElement): StateNode {
  const node: StateNode = {
    type: "history",
    history: attribute(element, "type") === "deep" ? "deep" : "shallow",
  };
  const [transition] = childrenNamed(reading, element, "transition");
  const target = transition === undefined ? undefined : targetsOf(attribute(transition, "target"));
  if (transition !== undefined && target !== undefined)
    node.target = withActions(reading, target, transition);
  return node;
}

function withActions(
  reading: Reading,
  target: Target | Target[],
  transition: XmlElement,
): NonNullable<StateNode["initial"]> {
  const actions = readBlock(reading, transition);
  return actions.length === 0 ? target : { target, actions };
}

function withFinalize(reading: Reading, element: XmlElement): Invoke {
  const invoke = readInvoke(reading, element);
  const [finalize] = childrenNamed(reading, element, "finalize");
  if (finalize === undefined) return invoke;
  const actions = readBlock(reading, finalize, true);
  if (finalize.children.length > 0) invoke.finalize = actions;
  else {
    const copies = finalizedNames(reading, element).map(([name, location]): Action => ({
      if: `has(_event.data.${name})`,
      then: [{ assign: { [location]: `_event.data.${name}` } }],
    }));
    if (copies.length > 0) invoke.finalize = copies;
  }
  return invoke;
}
