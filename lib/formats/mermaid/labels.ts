/**
 * A transition's label in Mermaid, `event [guard] / action, action`, written and read back; and the lines of a state's
 * compartment (`entry / action`, `invoke id / source`, `event [guard] / action`), which stand in its description.
 *
 * The start is an event, `after 5s`, `always`, `done`, `done(id)`, `error(id)`, `event(id)`; words that are no such label
 * are an event as a whole. Without a start a transition has no trigger.
 *
 * Holds: a transition read from a label prints as a label that reads the same.
 */
import { canonicalJson } from "@/lib/base/canonical";
import type { Json } from "@/lib/base/json";
import { closingBracket } from "@/lib/diagram/cel-scan";
import { many, type When } from "@/lib/diagram/chart-tree";
import { actionFromText, actionText, guardText, parseLabel, whenText } from "@/lib/diagram/label";
import type { Action, Guard, Invoke, Value } from "@/lib/statechart/document";
import { celString } from "../literal";

export interface Label {
  /** null: no trigger is named. */
  when: When | null;
  guard: string | null;
  actions: string[];
}

// --- reading

export function readLabel(text: string, invokes: readonly Invoke[]): Label {
  const flat = text.replace(/\s*\n\s*/g, " ").trim();
  if (flat === "") return { when: null, guard: null, actions: [] };
  const { head, rest } = split(flat);
  const parsed = parseLabel(`${startOf(head)} ${rest}`, invokes);
  if ("problem" in parsed) return { when: { kind: "event", event: flat }, guard: null, actions: [] };
  const guard = parsed.guard === null ? null : parsed.guard.trim();
  return { when: head === "" ? null : parsed.when, guard, actions: parsed.actions };
}

/** Where words end and a guard or actions begin: at `[` or `/` that stand by themselves, outside quotes. */
function split(text: string): { head: string; rest: string } {
  const quoted = /^"(?:[^"\\]|\\.)*"/.exec(text)?.[0];
  let from = quoted?.length ?? 0;
  for (; from < text.length; from++) {
    const starts = from === 0 || /\s/.test(text[from - 1] ?? "") || from === quoted?.length;
    if (!starts) continue;
    if (text[from] === "/" && /^(?:\s|$)/.test(text.slice(from + 1))) break;
    if (text[from] === "[" && closingBracket(text, from + 1) > 0) break;
  }
  return { head: text.slice(0, from).trim(), rest: text.slice(from) };
}

/** Words as a label of ours starts with them: quoted where they are no single word. */
function startOf(head: string): string {
  if (head === "") return "always";
  if (/^"(?:[^"\\]|\\.)*"$/.test(head) || /^after\s+(?:\S+|"(?:[^"\\]|\\.)*")$/.test(head)) return head;
  return /^[^\s[\]/"]+$/.test(head) ? head : JSON.stringify(head);
}

/** What a line of a state's description says beyond words; null when it is words. */
export type StateLine =
  | { kind: "entry" | "exit"; actions: string[] }
  | { kind: "invoke"; id: string | null; src: string }
  | { kind: "internal"; label: Label };

export function readStateLine(line: string, invokes: readonly Invoke[]): StateLine | null {
  const moment = /^(entry|exit)\s*\/\s*(\S.*)$/s.exec(line);
  if (moment) {
    const { actions, when } = readLabel(`x / ${moment[2] ?? ""}`, invokes);
    const isRead = when?.kind === "event" && when.event === "x";
    return { kind: moment[1] as "entry" | "exit", actions: isRead ? actions : [moment[2] ?? ""] };
  }
  const invoke = /^(?:invoke|do)(?:\s+(\S+))?\s*\/\s*(\S.*)$/s.exec(line);
  if (invoke?.[2] !== undefined) return { kind: "invoke", id: invoke[1] ?? null, src: invoke[2].trim() };
  // An event alone, or one with a guard alone, would be words.
  const label = / \/(?: |$)/.test(line) ? readLabel(line, invokes) : null;
  const whole = label?.when?.kind === "event" && label.when.event === line;
  return label === null || whole || label.when === null ? null : { kind: "internal", label };
}

/** An action of a label; null where its text is only a name. */
export function readAction(text: string, isCel: (text: string) => boolean): Action | null {
  const action = actionFromText(text);
  if (typeof action === "string") return null;
  if ("assign" in action)
    return Object.values(action.assign).every((cel) => typeof cel === "string" && isCel(cel)) ? action : null;
  if ("log" in action) return typeof action.log === "string" && isCel(action.log) ? action : null;
  const word = "raise" in action ? action.raise.type : "send" in action ? action.send.type : null;
  const named = word ?? ("cancel" in action ? action.cancel : "emit" in action ? action.emit.type : "");
  return typeof named === "string" && /\s/.test(named) ? null : action;
}

// --- writing

export function printStart(when: When, invokes: readonly Invoke[]): string {
  if (when.kind !== "event") return whenText(when, invokes);
  const plain = readLabel(`${when.event} / x`, invokes);
  const same = plain.when?.kind === "event" && plain.when.event === when.event && plain.actions.length === 1;
  return same ? when.event : JSON.stringify(when.event);
}

export function printActions(actions: readonly string[]): string {
  return actions
    .map((text) =>
      text !== "" && text === text.trim() && !/[,"\n]|^\//.test(text) ? text : quoteUnlessWhole(text),
    )
    .join(", ");
}

/** A comma inside brackets or a string is no end of an action. */
function quoteUnlessWhole(text: string): string {
  const parsed = parseLabel(`x / ${text}`, []);
  const whole = "actions" in parsed && parsed.actions.length === 1 && parsed.actions[0] === text;
  return whole ? text : JSON.stringify(text);
}

/** Texts that read as what `action` does; `exact` is false where something of it is not told. */
export function printAction(
  action: Action,
  isCel: (text: string) => boolean,
): { texts: string[]; exact: boolean } {
  if (typeof action === "string") return { texts: [action], exact: readAction(action, isCel) === null };
  if ("assign" in action) {
    const entries = Object.entries(action.assign).map(([key, value]) => [key, valueText(value)] as const);
    const texts = entries.map(([key, value]) => `assign ${key} = ${value ?? "…"}`);
    const reads = texts.every((text, index) => {
      const [key = "", value] = entries[index] ?? [];
      const read = readAction(text, isCel);
      return read !== null && equal(read, { assign: { [key]: value ?? null } });
    });
    // One after the other is the same as all at once where none reads what another writes.
    const roots = entries.map(([key]) => /^[A-Za-z_]\w*/.exec(key)?.[0] ?? key);
    const apart = entries.every(
      ([, value], index) =>
        !roots.some((root, other) => other < index && new RegExp(`\\b${root}\\b`).test(value ?? "")),
    );
    return { texts, exact: reads && (entries.length === 1 || apart) };
  }
  if ("log" in action) {
    const value = valueText(action.log);
    const text = `log ${value ?? "…"}`;
    return {
      texts: [text],
      exact: value !== null && action.label === undefined && readAction(text, isCel) !== null,
    };
  }
  if ("block" in action) {
    const parts = many<Action>(action.block).map((part) => printAction(part, isCel));
    return { texts: parts.flatMap(({ texts }) => texts), exact: false };
  }
  const text = actionText(action).replace(/\s+/g, " ").trim();
  const read = readAction(text, isCel);
  const exact = "placeholder" in action ? read === null : read !== null && equal(read, action);
  return { texts: [text === "" ? "…" : text], exact };
}

/** A Value as one CEL text; null where it holds a placeholder. */
function valueText(value: Value): string | null {
  if (typeof value === "string") return value.replace(/\s*\n\s*/g, " ").trim();
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (!Array.isArray(value) && typeof value.placeholder === "string") return null;
  const parts = Object.entries(value).map(([key, item]) => {
    const text = valueText(item);
    return text === null ? null : Array.isArray(value) ? text : `${celString(key)}: ${text}`;
  });
  if (parts.includes(null)) return null;
  return Array.isArray(value) ? `[${parts.join(", ")}]` : `{${parts.join(", ")}}`;
}

/** A guard's text, and whether it says all of it. */
export function printGuard(guard: Guard): { text: string; exact: boolean } {
  const text = guardText(guard).replace(/\s+/g, " ").trim();
  return { text, exact: closingBracket(`${text}]`, 0) === text.length && !hasParams(guard) };
}

const hasParams = (guard: Guard): boolean => {
  if (typeof guard === "string") return false;
  if ("and" in guard) return guard.and.some(hasParams);
  if ("or" in guard) return guard.or.some(hasParams);
  if ("not" in guard) return hasParams(guard.not);
  return "type" in guard && guard.params !== undefined;
};

const equal = (a: unknown, b: unknown): boolean => canonicalJson(a as Json) === canonicalJson(b as Json);
