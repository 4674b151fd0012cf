/**
 * A schedule's rule as texts in a form, and as the call that the form makes.
 *
 * Holds: what is wrong is told at its field; a schedule that is shown and sent back unchanged is the same rule.
 */
import { readCron } from "@/lib/base/cron";
import type { Json } from "@/lib/base/json";
import { labelKeyMax, labelsMax, labelValueMax } from "@/lib/base/limits";
import type { ArgsOf } from "@/lib/client/client";
import { id as idSchema } from "@/lib/contract/common";
import type { Misfire, ScheduleView } from "@/lib/contract/schedules";
import { parseJsonText } from "@/lib/formats/parse-json-text";

export interface RuleForm {
  id: string;
  cron: string;
  timeZone: string;
  kind: "start" | "send";
  chartId: string;
  /** `newest`, or a number. */
  version: string;
  input: string;
  businessKey: string;
  /** `key=value`, one a line. */
  labels: string;
  priority: string;
  /** Whether `to` is an id or a business key. */
  toKind: "instanceId" | "businessKey";
  to: string;
  type: string;
  data: string;
  misfire: Misfire;
  misfireMax: string;
}
export type FormField = keyof RuleForm;
export type Rule = Omit<ArgsOf<"createSchedule">, "id">;

export const emptyForm = (timeZone: string): RuleForm => ({
  id: "",
  cron: "",
  timeZone,
  kind: "start",
  chartId: "",
  version: "newest",
  input: "",
  businessKey: "",
  labels: "",
  priority: "0",
  toKind: "instanceId",
  to: "",
  type: "",
  data: "",
  misfire: "once",
  misfireMax: "10",
});

export function formOf(schedule: ScheduleView): RuleForm {
  const { action } = schedule;
  const base = {
    ...emptyForm(schedule.timeZone),
    id: schedule.id,
    cron: schedule.cron,
    kind: action.kind,
    misfire: schedule.misfire,
    misfireMax: String(schedule.misfireMax),
  };
  if (action.kind === "send") {
    const byId = "instanceId" in action.to;
    return {
      ...base,
      toKind: byId ? "instanceId" : "businessKey",
      to: "instanceId" in action.to ? action.to.instanceId : action.to.businessKey,
      type: action.type,
      data: textOf(action.data),
    };
  }
  return {
    ...base,
    chartId: action.chartId,
    version: action.version === null ? "newest" : String(action.version),
    input: textOf(action.input),
    businessKey: action.businessKey ?? "",
    labels: Object.entries(action.labels)
      .map(([key, value]) => `${key}=${value}`)
      .join("\n"),
    priority: String(action.priority),
  };
}

const textOf = (value: Json): string => (value === null ? "" : JSON.stringify(value, null, 2));

/** The rule, or what is wrong with which field; fields that are still empty are `missing`. */
export function readForm(form: RuleForm): {
  rule: Rule | null;
  problems: Partial<Record<FormField, string>>;
  missing: FormField[];
} {
  const problems: Partial<Record<FormField, string>> = {};
  const missing: FormField[] = [];
  const need = (field: FormField): string => {
    const text = form[field].trim();
    if (text === "") missing.push(field);
    return text;
  };
  const readJson = (field: "input" | "data"): Json | undefined => {
    const parsed = parseJsonText(form[field]);
    if (parsed.ok) return parsed.value;
    problems[field] = parsed.error;
    return undefined;
  };
  const name = need("id");
  const named = idSchema.safeParse(name);
  if (name !== "" && !named.success) {
    const text = named.error.issues[0]?.message ?? "not a name";
    problems.id = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  }
  const cron = need("cron");
  const timeZone = need("timeZone");
  if (cron !== "" && timeZone !== "") {
    const read = readCron(cron, timeZone);
    if ("problem" in read) problems[read.field] = read.problem;
  }
  const misfireMax = Number(form.misfireMax);
  if (form.misfire === "all" && !(Number.isInteger(misfireMax) && misfireMax >= 1 && misfireMax <= 100)) {
    problems.misfireMax = "A whole number from 1 to 100.";
  }
  const action = form.kind === "start" ? startOf() : sendOf();
  const right = missing.length === 0 && Object.keys(problems).length === 0;
  const misfire = form.misfire === "all" ? { misfire: form.misfire, misfireMax } : { misfire: form.misfire };
  return { rule: right ? { cron, timeZone, action, ...misfire } : null, problems, missing };

  function startOf(): Rule["action"] {
    const chartId = need("chartId");
    const input = readJson("input");
    const businessKey = form.businessKey.trim();
    const labels = readLabels(form.labels);
    if (typeof labels === "string") problems.labels = labels;
    return {
      kind: "start",
      chartId,
      ...(form.version === "newest" ? {} : { version: Number(form.version) }),
      ...(input === undefined ? {} : { input }),
      ...(businessKey === "" ? {} : { businessKey }),
      labels: typeof labels === "string" ? {} : labels,
      priority: Number(form.priority),
    };
  }

  function sendOf(): Rule["action"] {
    const to = need("to");
    const type = need("type");
    const data = readJson("data");
    return {
      kind: "send",
      to: form.toKind === "instanceId" ? { instanceId: to } : { businessKey: to },
      type,
      ...(data === undefined ? {} : { data }),
    };
  }
}

/** The labels, or what is wrong with them. */
function readLabels(text: string): Record<string, string> | string {
  const labels: Record<string, string> = {};
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line === "") continue;
    const at = line.indexOf("=");
    if (at < 1) return `"${line.slice(0, 40)}" is no label: write key=value, one a line.`;
    const [key, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    if (key.length > labelKeyMax)
      return `A key has at most ${labelKeyMax} characters: "${key.slice(0, 40)}…"`;
    if (value.length > labelValueMax) return `The value of ${key} has more than ${labelValueMax} characters.`;
    labels[key] = value;
  }
  if (Object.keys(labels).length > labelsMax) return `At most ${labelsMax} labels are taken.`;
  return labels;
}
