/**
 * A guard, value or action as one line of text, as traces, labels and messages show it.
 */
import type { Action, Delay, Guard, Text, Value } from "./document";

export function guardText(guard: Guard): string {
  if (typeof guard === "string") return guard;
  if ("placeholder" in guard) return guard.text ?? guard.placeholder;
  if ("type" in guard) {
    return guard.params === undefined ? guard.type : `${guard.type}(${valueText(guard.params)})`;
  }
  if ("and" in guard) return guard.and.map(part).join(" && ");
  if ("or" in guard) return guard.or.map(part).join(" || ");
  if ("not" in guard) return `!${part(guard.not)}`;
  return `In('${guard.in}')`;
}

const part = (guard: Guard): string => {
  const text = guardText(guard);
  return /^[\w.()']+$/.test(text) ? text : `(${text})`;
};

/** A CEL text as it is; other JSON compact. */
function valueText(value: Value): string {
  return typeof value === "string" ? value : shorten(JSON.stringify(value));
}

export function actionText(action: Action): string {
  if (typeof action === "string") return action;
  if ("placeholder" in action) return action.text ?? action.placeholder;
  if ("assign" in action) {
    return `assign ${Object.entries(action.assign)
      .map(([location, value]) => `${location} = ${valueText(value)}`)
      .join(", ")}`;
  }
  if ("raise" in action) return `raise ${textText(action.raise.type)}${delayText(action.raise.delay)}`;
  if ("send" in action) {
    const to = action.send.to === undefined ? "" : ` to ${textText(action.send.to)}`;
    return `send ${textText(action.send.type)}${to}${delayText(action.send.delay)}`;
  }
  if ("cancel" in action) return `cancel ${textText(action.cancel)}`;
  if ("emit" in action) return `emit ${textText(action.emit.type)}`;
  if ("log" in action)
    return `log ${action.label === undefined ? "" : `${action.label}: `}${valueText(action.log)}`;
  if ("if" in action) return `if ${guardText(action.if)}`;
  if ("foreach" in action) return `for each ${action.foreach.item} in ${valueText(action.foreach.in)}`;
  if ("compensate" in action) return "compensate";
  if ("block" in action) return "block";
  return action.params === undefined ? action.type : `${action.type}(${valueText(action.params)})`;
}

const textText = (text: Text): string => (typeof text === "string" ? text : `{${text.cel}}`);

function delayText(delay: Delay | undefined): string {
  if (delay === undefined) return "";
  if (typeof delay === "object") return ` after ${delay.placeholder}`;
  return ` after ${typeof delay === "number" ? `${delay}ms` : delay}`;
}

const shorten = (text: string): string => (text.length > 120 ? `${text.slice(0, 119)}…` : text);
