/**
 * The text of a transition: `event [guard] / action, action`, printed for pills and for the label field, and read back.
 *
 * The start says when it runs: an event descriptor, `after 5s`, `always`, `done`, `done(id)`, `error(id)` (an
 * invocation's), `event(id)` (its onEvent). A descriptor that would read as something else stands in "quotes".
 *
 * Holds: reading what was printed gives the same transition back; parts whose text is unchanged keep their JSON, so
 * that an edit never drops what the text does not show (parameters, conditions, second branches of an `if`).
 */
import type { Action, Actions, Guard, Invoke, TransitionObject } from "@/lib/statechart/document";
import { closingBracket, celTokens } from "./cel-scan";
import { many, type When } from "./chart-tree";

/** The parts of a label as texts. */
export interface LabelText {
  when: string;
  guard: string | null;
  actions: string[];
}

export function labelText(when: When, spec: TransitionObject, invokes: readonly Invoke[]): LabelText {
  return {
    when: whenText(when, invokes),
    guard: spec.guard === undefined ? null : guardText(spec.guard),
    actions: many<Action>(spec.actions).map(actionText),
  };
}

/** The whole label in one line, nothing shortened. */
export function printLabel({ when, guard, actions }: LabelText): string {
  const parts = [when];
  if (guard !== null) parts.push(`[${guard}]`);
  if (actions.length > 0) parts.push(`/ ${actions.map(quoteAction).join(", ")}`);
  return parts.filter((part) => part !== "").join(" ");
}

// --- when

export function whenText(when: When, invokes: readonly Invoke[]): string {
  switch (when.kind) {
    case "event":
      return isPlainEvent(when.event) ? when.event : JSON.stringify(when.event);
    case "after":
      return `after ${/^[^\s[\]/"]+$/.test(when.delay) ? when.delay : JSON.stringify(when.delay)}`;
    case "always":
      return "always";
    case "done":
      return "done";
    case "invoke": {
      const word = { onDone: "done", onError: "error", onEvent: "event" }[when.on];
      return `${word}(${invokeName(invokes, when.index)})`;
    }
  }
}

const reserved = /^(?:always|done|after|(?:done|error|event)\(.*\))$/;
const isPlainEvent = (event: string): boolean => /^[^\s[\]/"]+$/.test(event) && !reserved.test(event);

/** An invocation's id, else its source when no other goes by it, else its place. */
export function invokeName(invokes: readonly Invoke[], index: number): string {
  const own = invokes[index];
  const plain = (text: string | undefined): text is string =>
    text !== undefined && /^[^\s()[\]/"]+$/.test(text) && !/^\d+$/.test(text);
  const others = invokes.filter((_, other) => other !== index);
  if (plain(own?.id) && !others.some((other) => other.id === own.id)) return own.id;
  const src = typeof own?.src === "string" ? own.src : own?.src?.placeholder;
  const taken = others.some((other) => other.id === src || (other.id === undefined && other.src === src));
  if (plain(src) && own?.id === undefined && !taken) return src;
  return String(index);
}

export interface LabelProblem {
  message: string;
  /** Offset in the text. */
  at: number;
}

const forbiddenKey = 'the key "__proto__" is not allowed';

/** Why a transition can't start so, or null: events and delays are keys of the document. */
export function whenProblem(when: When): string | null {
  const key = when.kind === "event" ? when.event : when.kind === "after" ? when.delay : null;
  return key === "__proto__" ? forbiddenKey : null;
}

/** Why a typed action can't be kept, or null: what it assigns is a key of the document. */
export const actionProblem = (text: string): string | null =>
  /^assign\s+__proto__\s*=/.test(text) ? forbiddenKey : null;

function parseWhen(text: string, invokes: readonly Invoke[]): When | string {
  const call = /^(done|error|event)\((.*)\)$/.exec(text);
  if (call) {
    const index = invokes.findIndex((_, at) => invokeName(invokes, at) === call[2]);
    if (index < 0)
      return `this state has no invocation ${call[2]}; name one of its invocations, or put the event in quotes`;
    const on = ({ done: "onDone", error: "onError", event: "onEvent" } as const)[
      call[1] as "done" | "error" | "event"
    ];
    return { kind: "invoke", index, on };
  }
  if (text === "always") return { kind: "always" };
  if (text === "done") return { kind: "done" };
  const after = /^after(?:\s+([\s\S]*))?$/.exec(text);
  if (after) {
    const delay = unquote(after[1] ?? "");
    return delay ? { kind: "after", delay } : "say how long: after 5s";
  }
  const event = text.startsWith('"') ? unquote(text) : /\s/.test(text) ? null : text;
  return event ? { kind: "event", event } : "an event is one word; put it in quotes to use spaces";
}

function unquote(text: string): string | null {
  if (!text.startsWith('"')) return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

// --- guard

export function guardText(guard: Guard): string {
  if (typeof guard === "string") return guard;
  if ("type" in guard)
    return guard.params === undefined ? guard.type : `${guard.type}(${paramsText(guard.params)})`;
  if ("and" in guard) return guard.and.map(inner).join(" && ");
  if ("or" in guard) return guard.or.map(inner).join(" || ");
  if ("not" in guard) return `!${inner(guard.not)}`;
  if ("in" in guard) return `In('${guard.in}')`;
  return guard.text ?? guard.placeholder;
}

const inner = (guard: Guard): string => {
  const text = guardText(guard);
  return /^[\w.]+(?:\([^()]*\))?$/.test(text) ? text : `(${text})`;
};

const paramsText = (params: unknown): string => {
  const text = JSON.stringify(params);
  return text.length > 24 ? "…" : text.replaceAll('"', "");
};

// --- actions

export function actionText(action: Action): string {
  if (typeof action === "string") return action;
  if ("type" in action) return action.type;
  if ("assign" in action) {
    const [first = "", ...rest] = Object.keys(action.assign);
    return `assign ${first}${rest.length > 0 ? ` +${rest.length}` : ""}`;
  }
  if ("raise" in action) return `raise ${textOf(action.raise.type)}`;
  if ("send" in action) return `send ${textOf(action.send.type)}`;
  if ("cancel" in action) return `cancel ${textOf(action.cancel)}`;
  if ("emit" in action) return `emit ${textOf(action.emit.type)}`;
  if ("log" in action) return action.label === undefined ? "log" : `log ${action.label}`;
  if ("if" in action) return `if ${guardText(action.if)}`;
  if ("foreach" in action) return `foreach ${action.foreach.item}`;
  if ("compensate" in action) return "compensate";
  if ("block" in action) return many<Action>(action.block).map(actionText).join(", ");
  return action.placeholder;
}

const textOf = (text: string | { cel: string }): string => (typeof text === "string" ? text : text.cel);

/** An action whose text holds a comma or a quote, or starts with a slash, stands in quotes. */
const quoteAction = (text: string): string =>
  text !== "" && text === text.trim() && !/[,"\n]|^\//.test(text) ? text : JSON.stringify(text);

/** A new action typed into a label or an action row. */
export function actionFromText(text: string): Action {
  const assign = /^assign\s+([A-Za-z_][\w.[\]]*)\s*=\s*([\s\S]+)$/.exec(text);
  if (assign?.[1] && assign[2]) return { assign: { [assign[1]]: assign[2] } };
  const word = /^(raise|send|cancel|emit|log)\s+([\s\S]+)$/.exec(text);
  switch (word?.[1]) {
    case "raise":
      return { raise: { type: word[2] ?? "" } };
    case "send":
      return { send: { type: word[2] ?? "" } };
    case "cancel":
      return { cancel: word[2] ?? "" };
    case "emit":
      return { emit: { type: word[2] ?? "" } };
    case "log":
      return { log: word[2] ?? "" };
    default:
      return text === "compensate" ? { compensate: true } : text;
  }
}

// --- reading back

export interface ParsedLabel {
  when: When;
  guard: string | null;
  actions: string[];
}

/** Reads a label. The bracket ends where CEL's tokens say, so a guard may hold `]` in strings and indexes. */
export function parseLabel(
  text: string,
  invokes: readonly Invoke[],
): ParsedLabel | { problem: LabelProblem } {
  const start = splitHead(text);
  const head = text.slice(0, start).trim();
  let rest = start;
  let guard: string | null = null;
  if (text[rest] === "[") {
    const end = closingBracket(text, rest + 1);
    if (end < 0) return { problem: { message: "the guard's bracket is not closed: add ]", at: rest } };
    guard = text.slice(rest + 1, end);
    rest = end + 1;
  }
  const tail = text.slice(rest);
  const slash = /^\s*(?:\/([\s\S]*))?$/.exec(tail);
  if (!slash) return { problem: { message: "after the guard comes / and the actions", at: rest } };
  const actions = splitActions(slash[1] ?? "");
  if (actions === null) return { problem: { message: "a quoted action is not closed", at: rest } };
  if (/^\s*\/\s*\//.test(tail))
    return { problem: { message: "one / is enough: after it come the actions", at: rest } };
  if (head === "") return { problem: { message: "name an event, or write after 5s, always or done", at: 0 } };
  const when = parseWhen(head, invokes);
  if (typeof when === "string") return { problem: { message: when, at: 0 } };
  const keyProblem = whenProblem(when);
  if (keyProblem !== null) return { problem: { message: keyProblem, at: 0 } };
  for (const action of actions) {
    const message = actionProblem(action);
    if (message !== null) return { problem: { message, at: rest } };
  }
  if (guard !== null && guard.trim() === "") guard = null;
  return { when, guard, actions };
}

/** Where the head (event) ends: at `[` or `/` outside quotes. */
function splitHead(text: string): number {
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (quoted && char === "\\") at++;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && (char === "[" || char === "/")) return at;
  }
  return text.length;
}

function splitActions(text: string): string[] | null {
  const actions: string[] = [];
  for (let rest = text.trim(); rest !== "";) {
    const quoted = /^"(?:[^"\\]|\\.)*"/.exec(rest)?.[0];
    if (rest.startsWith('"') && quoted === undefined) return null;
    const item = quoted ?? plainAction(rest);
    const value = quoted === undefined ? item.trim() : unquote(quoted);
    if (value === null) return null;
    if (value !== "" || quoted !== undefined) actions.push(value);
    rest = rest.slice(item.length).trim();
    if (rest !== "" && !rest.startsWith(",")) return null;
    rest = rest.slice(1).trim();
  }
  return actions;
}

/** Up to the next comma outside brackets and strings (`assign x = max(1, 2)`). */
function plainAction(text: string): string {
  let depth = 0;
  for (const token of celTokens(text)) {
    if (token.kind !== "operator") continue;
    if ("([{".includes(token.text)) depth++;
    else if (")]}".includes(token.text)) depth--;
    else if (token.text === "," && depth <= 0) return text.slice(0, token.at);
  }
  return text;
}

/** The transition after its label was edited from `before` to `after`: what kept its text keeps its JSON. */
export function editedSpec(spec: TransitionObject, before: LabelText, after: ParsedLabel): TransitionObject {
  const next: TransitionObject = { ...spec };
  if (after.guard !== before.guard) {
    if (after.guard === null) delete next.guard;
    else next.guard = after.guard;
  }
  const old = many<Action>(spec.actions);
  const unused = old.map((action, index) => ({ action, text: before.actions[index] }));
  const actions = after.actions.map((text) => {
    const at = unused.findIndex((item) => item.text === text);
    return at < 0 ? actionFromText(text) : (unused.splice(at, 1)[0]?.action ?? text);
  });
  const same = actions.length === old.length && actions.every((action, index) => action === old[index]);
  if (!same) {
    if (actions.length === 0) delete next.actions;
    else next.actions = oneOrMany(actions);
  }
  return next;
}

const oneOrMany = (actions: Action[]): Actions =>
  actions.length === 1 && actions[0] !== undefined ? actions[0] : actions;

/** `text` cut to about `max` characters, the end replaced by `…`. */
export const shorten = (text: string, max: number): string => {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length <= max ? flat : `${flat.slice(0, max - 1).trimEnd()}…`;
};
