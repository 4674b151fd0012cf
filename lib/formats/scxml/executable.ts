/**
 * Executable content: what stands inside <onentry>, <onexit>, <transition>, <if>, <foreach>, <finalize>.
 */
import type { Action, Actions, Guard } from "@/lib/statechart/document";
import { literalValue } from "../literal";
import { inlineData } from "./content";
import { shorten, type ExpressionPlace } from "./expressions";
import { readSend, textOf } from "./read-send";
import type { XmlElement } from "./read-xml";
import { attribute, ownJson, type Reading } from "./reading";

/** The actions of a block, in order. `eventBound`: an event is being processed wherever it runs. */
export function readBlock(reading: Reading, block: XmlElement, eventBound = false): Action[] {
  return block.children.flatMap((element) => readAction(reading, element, eventBound) ?? []);
}

/** Several blocks of one kind: each is a failure scope of its own (SCXML 3.8). */
export function readBlocks(reading: Reading, blocks: XmlElement[]): Action[] {
  const read = blocks.map((block) => readBlock(reading, block)).filter((actions) => actions.length > 0);
  return read.length > 1 ? read.map((actions) => ({ block: actions })) : read.flat();
}

function readAction(reading: Reading, element: XmlElement, eventBound: boolean): Action | undefined {
  const { expressions, reports } = reading;
  const kept = ownJson(reading, element, "action");
  if (kept !== undefined) return kept as Action;
  const at: ExpressionPlace = { ...element.at, eventBound };
  const get = (name: string): string => attribute(element, name) ?? "";
  if (element.uri !== reading.uri) return unknown(reading, element);
  switch (element.name) {
    case "raise":
      return { raise: { type: get("event").trim() } };
    case "assign": {
      const expr = attribute(element, "expr");
      const value = expr === null ? literalValue(inlineData(element) ?? null) : expressions.value(expr, at);
      const location = get("location").trim();
      if (location === "__proto__") {
        reports.error("bad-location", "`__proto__` cannot be a location.", element.at);
        return undefined;
      }
      return { assign: { [location]: value } };
    }
    case "log": {
      const expr = attribute(element, "expr");
      const label = attribute(element, "label");
      const empty = expr === null || expr.trim() === "";
      return { log: empty ? null : expressions.value(expr, at), ...(label === null ? {} : { label }) };
    }
    case "if":
      return readIf(reading, element, eventBound);
    case "foreach": {
      const index = attribute(element, "index");
      return {
        foreach: {
          in: expressions.value(get("array"), at),
          item: get("item").trim(),
          ...(index === null ? {} : { index: index.trim() }),
          do: readBlock(reading, element, eventBound),
        },
      };
    }
    case "send":
      return { send: readSend(reading, element, at) };
    case "cancel":
      return { cancel: textOf(reading, element, "sendid", "sendidexpr", at) ?? "" };
    case "script": {
      const src = attribute(element, "src");
      const text = src === null ? element.text : `src: ${src}`;
      reports.lose("<script> is never run: it stands as a placeholder with its text.", element.at);
      return reports.placeholder("script", text);
    }
    case "else":
    case "elseif":
      reports.error("bad-element", `<${element.name}> stands outside an <if>.`, element.at);
      return undefined;
    default:
      return unknown(reading, element);
  }
}

function unknown(reading: Reading, element: XmlElement): Action {
  reading.reports.lose(`<${element.name}> is no action of SCXML: it stands as a placeholder.`, element.at);
  return reading.reports.placeholder(element.name, shorten(element.markup, 2_000));
}

/** <if> with its <elseif> and <else> separators becomes nested ifs. */
function readIf(reading: Reading, element: XmlElement, eventBound: boolean): Action {
  const guardOf = (branch: XmlElement): Guard =>
    reading.expressions.guard(attribute(branch, "cond") ?? "", { ...branch.at, eventBound });
  const first = { guard: guardOf(element), actions: [] as Action[] };
  const branches: { guard: Guard | null; actions: Action[] }[] = [first];
  for (const child of element.children) {
    const separator = child.uri === reading.uri && (child.name === "elseif" || child.name === "else");
    if (separator) branches.push({ guard: child.name === "else" ? null : guardOf(child), actions: [] });
    else branches.at(-1)?.actions.push(...[readAction(reading, child, eventBound) ?? []].flat());
  }
  let otherwise: Actions | undefined;
  // A lone action instead of a list of one: long chains stay within a chart's bound on nesting.
  for (const { guard, actions } of branches.slice(1).toReversed())
    otherwise = guard === null ? actions : ifAction(guard, actions, otherwise);
  return ifAction(first.guard, first.actions, otherwise);
}

function ifAction(guard: Guard, then: Action[], otherwise: Actions | undefined): Action {
  return otherwise === undefined ? { if: guard, then } : { if: guard, then, else: otherwise };
}
