/**
 * What the words of a diagram stand for: guards and actions that are CEL are taken over, all others are names or texts
 * without an implementation, which stand as placeholders.
 */
import { celTokens } from "@/lib/diagram/cel-scan";
import { checkExpression } from "@/lib/statechart/cel/check-expression";
import { environmentWith, reservedNames } from "@/lib/statechart/cel/environment";
import { parseDelay } from "@/lib/statechart/delay";
import type { Action, Actions, Chart, Delay, Guard } from "@/lib/statechart/document";
import type { Reports } from "../reports";
import { readAction } from "./labels";

const words = new Set(["true", "false", "null", "in"]);

export class Meanings {
  private readonly guards = new Map<string, Guard>();
  private readonly actions = new Map<string, Actions>();
  private readonly delays = new Map<string, Delay>();

  constructor(private readonly reports: Reports) {}

  guard(text: string): Guard {
    if (this.isName(text)) {
      this.nameGuard(text);
      return text;
    }
    const names = freeNames(text);
    // A condition takes what can be a bool alone, so that words such as `n + 1` are told from guards.
    const isBool = checkExpression(`(${text}\n) ? true : false`, environmentWith(names)).ok;
    if (!isBool || !checkExpression(text, environmentWith(names)).ok)
      return this.reports.placeholder("guard", text);
    for (const name of names) this.nameGuard(name);
    return text;
  }

  actionsOf(texts: readonly string[]): Actions | undefined {
    const actions = texts.map((text) => this.action(text));
    return actions.length === 1 ? actions[0] : actions.length === 0 ? undefined : actions;
  }

  private action(text: string): Action {
    const read = readAction(text, isCel);
    if (read !== null) return read;
    if (text === "__proto__") return this.reports.placeholder(text);
    if (!this.actions.has(text)) this.actions.set(text, this.reports.placeholder(text));
    return text;
  }

  delay(text: string): string {
    const isKnown = parseDelay(text) !== null || this.delays.has(text);
    if (!isKnown && (/^[A-Za-z_][\w-]*$/.test(text) || !isCel(text)))
      this.delays.set(text, this.reports.placeholder(text));
    return text;
  }

  /** The chart's maps of names, where there are any. */
  maps(): Pick<Chart, "guards" | "actions" | "delays"> {
    return {
      ...(this.guards.size > 0 ? { guards: Object.fromEntries(this.guards) } : {}),
      ...(this.actions.size > 0 ? { actions: Object.fromEntries(this.actions) } : {}),
      ...(this.delays.size > 0 ? { delays: Object.fromEntries(this.delays) } : {}),
    };
  }

  private isName(text: string): boolean {
    return (
      /^[A-Za-z_][\w-]*$/.test(text) && !words.has(text) && !reservedNames.has(text) && text !== "__proto__"
    );
  }

  private nameGuard(name: string): void {
    if (!this.guards.has(name)) this.guards.set(name, this.reports.placeholder(name));
  }
}

export const isCel = (text: string): boolean => checkExpression(text, environmentWith([])).ok;

/** Names that stand alone in a CEL text: neither fields nor functions, nor CEL's own. */
function freeNames(text: string): string[] {
  const tokens = celTokens(text).filter(({ kind }) => kind !== "space" && kind !== "comment");
  const names = tokens.flatMap((token, index) => {
    const isField = tokens[index - 1]?.text === ".";
    const isFunction = tokens[index + 1]?.text === "(";
    const isName = token.kind === "name" && !isField && !isFunction;
    return isName && !words.has(token.text) && !reservedNames.has(token.text) ? [token.text] : [];
  });
  return [...new Set(names)];
}
