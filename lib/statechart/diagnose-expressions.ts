/**
 * Diagnostics of what is evaluated: CEL that does not parse or type-check, unknown names, bad locations, placeholders.
 */
import { checkExpression } from "./cel/check-expression";
import { environmentWith, reservedNames } from "./cel/environment";
import { parseDelay } from "./delay";
import type { Diagnostic, Severity } from "./diagnostic";
import { parseLocation } from "./location";
import type { Machine } from "./machine";
import { walkDocument, type Part } from "./walk-document";

type Found = { severity: Severity; code: string; message: string } | null;

export function diagnoseExpressions(machine: Machine): Diagnostic[] {
  const found: Diagnostic[] = [];
  const judge = judgeOf(machine);
  walkDocument(machine, (part, at) => {
    const one = judge(part);
    if (one !== null) found.push({ code: one.code, severity: one.severity, at, message: one.message });
  });
  for (const name of Object.keys(machine.chart.guards ?? {})) {
    if (reservedNames.has(name)) {
      found.push({
        code: "reserved-name",
        severity: "error",
        at: { state: "", field: `guards/${name}` },
        message: `a guard cannot be named "${name}": expressions use that name for something else`,
      });
    }
  }
  return found;
}

const error = (code: string, message: string): Found => ({ severity: "error", code, message });
const warning = (code: string, message: string): Found => ({ severity: "warning", code, message });

function judgeOf(machine: Machine): (part: Part) => Found {
  const { chart, settings } = machine;
  const environment = environmentWith(Object.keys(chart.guards ?? {}));
  const knows = (record: object | undefined, name: string): boolean =>
    record !== undefined && Object.hasOwn(record, name);
  const judgeCel = (text: string, expects: "bool" | "any"): Found => {
    const checked = checkExpression(text, environment);
    if (!checked.ok) {
      const bare = /^[A-Za-z_][\w.-]*$/.test(text);
      if (expects === "bool" && bare && checked.code === "unknown-variable") {
        return error(
          "unknown-guard",
          `there is no guard named "${text}", and it is not an expression either`,
        );
      }
      return error(checked.syntax ? "cel-syntax" : "cel-type", checked.message);
    }
    if (expects === "bool" && checked.type !== "bool" && !checked.type.startsWith("dyn")) {
      return warning("guard-never-true", `the guard \`${text}\` gives ${checked.type}, so it is never true`);
    }
    return null;
  };

  return (part) => {
    switch (part.kind) {
      case "cel":
        return judgeCel(part.text, part.expects);
      case "guard-name":
        return knows(chart.guards, part.name)
          ? null
          : error("unknown-guard", `there is no guard named "${part.name}"`);
      case "action-name":
        return knows(chart.actions, part.name)
          ? null
          : error("unknown-action", `there is no action named "${part.name}": declare it in \`actions\``);
      case "in":
        return machine.states.has(part.name)
          ? null
          : error("unknown-state", `there is no state named "${part.name}" to be in`);
      case "delay":
        if (knows(chart.delays, part.text) || parseDelay(part.text) !== null) return null;
        if (/^[A-Za-z_][\w-]*$/.test(part.text)) {
          return error("unknown-delay", `"${part.text}" is neither a duration nor a name in \`delays\``);
        }
        return judgeCel(part.text, "any");
      case "location": {
        const path = parseLocation(part.text);
        if (path === null)
          return error("bad-location", `"${part.text}" is not a location that can be written`);
        const declared =
          knows(chart.context, path[0]) || machine.lateRoots.includes(path[0]) || part.declares;
        return settings.scxmlDomain && !declared ? error("undeclared", `"${path[0]}" is not declared`) : null;
      }
      case "send-target":
        return /^(?:#_.+|instance:.+)$/s.test(part.text)
          ? null
          : error(
              "bad-send-target",
              `"${part.text}" is not a target: use #_internal, #_parent, #_INVOKEID or instance:ID`,
            );
      case "placeholder":
        return warning(
          "placeholder",
          `the ${part.of} "${part.name}" is a placeholder: ${whatItDoes[part.of]}`,
        );
    }
  };
}

const whatItDoes = {
  guard: "it is always false until it is written",
  action: "it does nothing but log until it is written",
  delay: "it never fires until it is written",
  value: "it has no value until it is written",
  invocation: "nothing answers it until it is named",
} as const;
