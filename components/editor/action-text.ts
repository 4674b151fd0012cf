/**
 * An action as one line a person edits: the short form where it says everything, else its JSON.
 *
 * Holds: reading what was written gives the same action.
 */
import { actionFromText, actionProblem } from "@/lib/diagram/label";
import type { Action } from "@/lib/statechart/document";
import { parseJsonText } from "@/lib/formats/parse-json-text";

export function actionSource(action: Action): string {
  const short = shortForm(action);
  if (short !== null && JSON.stringify(actionFromText(short)) === JSON.stringify(action)) return short;
  return JSON.stringify(action);
}

function shortForm(action: Action): string | null {
  if (typeof action === "string") return action;
  if ("assign" in action) {
    const [entry, ...others] = Object.entries(action.assign);
    return entry && others.length === 0 && typeof entry[1] === "string"
      ? `assign ${entry[0]} = ${entry[1]}`
      : null;
  }
  for (const word of ["raise", "send", "emit"] as const) {
    if (!(word in action)) continue;
    const body = (action as Record<string, { type?: unknown }>)[word];
    return body && Object.keys(body).length === 1 && typeof body.type === "string"
      ? `${word} ${body.type}`
      : null;
  }
  if ("cancel" in action) return typeof action.cancel === "string" ? `cancel ${action.cancel}` : null;
  if ("log" in action)
    return typeof action.log === "string" && action.label === undefined ? `log ${action.log}` : null;
  if ("compensate" in action) return "compensate";
  return null;
}

/** The action, or what is wrong with the text. */
export function readAction(text: string): { action: Action } | { problem: string } {
  const trimmed = text.trim();
  if (trimmed === "") return { problem: "Write an action, such as assign total = context.total + 1." };
  if (!trimmed.startsWith("{")) {
    const problem = actionProblem(trimmed);
    return problem === null ? { action: actionFromText(trimmed) } : { problem };
  }
  const parsed = parseJsonText(trimmed);
  if (!parsed.ok) return { problem: parsed.error };
  return { action: parsed.value as Action };
}

/** First word and rest, for the eye. */
export function actionWords(action: Action): { word: string; rest: string } {
  if (typeof action === "object" && "assign" in action) {
    const entries = Object.entries(action.assign).map(
      ([to, value]) => `${to} = ${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
    return { word: "assign", rest: entries.join(", ") };
  }
  if (typeof action === "object" && "send" in action) {
    const { type, to, delay } = action.send;
    const target = to === undefined ? "" : ` → ${plain(to)}`;
    return {
      word: "send",
      rest: `${plain(type)}${target}${delay === undefined ? "" : ` after ${plain(delay)}`}`,
    };
  }
  if (typeof action === "object" && "raise" in action)
    return { word: "raise", rest: plain(action.raise.type) };
  if (typeof action === "object" && "emit" in action) return { word: "emit", rest: plain(action.emit.type) };
  if (typeof action === "object" && "if" in action) return { word: "if", rest: plain(action.if) };
  if (typeof action === "object" && "foreach" in action)
    return { word: "foreach", rest: `${action.foreach.item} in ${plain(action.foreach.in)}` };
  if (typeof action === "object" && "placeholder" in action)
    return { word: "placeholder", rest: action.text ?? action.placeholder };
  const [, word = "", rest = ""] = /^(\w+)\s+([\s\S]*)$/.exec(actionSource(action)) ?? [];
  return word === "" || typeof action === "string"
    ? { word: "", rest: actionSource(action) }
    : { word, rest };
}

const plain = (value: unknown): string =>
  typeof value === "string"
    ? value
    : typeof value === "object" && value !== null && "cel" in value && typeof value.cel === "string"
      ? value.cel
      : JSON.stringify(value);
