/**
 * The command that mends a problem: the diagnostic's own fix, or a placeholder for a name that nothing declares, so that
 * one can go on drawing and name it later.
 */
import { isJsonObject } from "@/lib/base/json";
import { chartTree } from "@/lib/diagram/chart-tree";
import { applyFix } from "@/lib/statechart/apply-fix";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import type { Chart } from "@/lib/statechart/document";
import type { Command } from "./command";
import type { ChartField } from "./field-commands";

export interface Mend {
  title: string;
  command: Command;
}

const declarable: Record<string, ChartField> = {
  "unknown-action": "actions",
  "unknown-guard": "guards",
};

export function mendOf(chart: Chart, problem: Diagnostic): Mend | null {
  const { fix, code, message } = problem;
  const command = fix?.edit && commandOf(chart, fix.edit);
  if (fix && command) return { title: fix.title, command };
  const field = declarable[code];
  const name = /named "([A-Za-z_][\w.-]*)"/.exec(message)?.[1];
  if (field === undefined || name === undefined) return null;
  return {
    title: `Declare ${name} as a placeholder`,
    command: declare(chart, field, name, { placeholder: name }),
  };
}

function commandOf(chart: Chart, edit: NonNullable<NonNullable<Diagnostic["fix"]>["edit"]>): Command | null {
  const { set, state, to } = edit;
  if (set === "initial" && typeof state === "string" && typeof to === "string") {
    const child = chartTree(chart)
      .byName.get(state)
      ?.children.find((item) => item.key === to);
    if (child) return { do: "set-initial", state: child.name };
  }
  if (set === "type" && typeof state === "string" && to === "final") {
    return { do: "set-kind", state, kind: "final" };
  }
  const { declare: section, name, value } = edit;
  const fields: readonly string[] = ["guards", "actions", "delays", "tasks"];
  if (typeof section === "string" && fields.includes(section) && typeof name === "string")
    return declare(chart, section as ChartField, name, value ?? {});
  const { remove } = edit;
  // A transition takes its route with it, and those behind it move up.
  if (typeof remove === "string" && typeof state === "string" && transitionField.test(remove))
    return { do: "delete", states: [], transitions: [`${state}#${remove}`] };
  const fixed = applyFix(chart, edit);
  return fixed === null ? null : { do: "replace-chart", chart: fixed };
}

const transitionField = /^(?:(?:on|after)\/[^/]+|always|onDone|invoke\/\d+\/on\w+)\/\d+$/;

function declare(chart: Chart, field: ChartField, name: string, value: unknown): Command {
  const before = chart[field];
  return { do: "set-chart-field", field, value: { ...(isJsonObject(before) ? before : {}), [name]: value } };
}
