/**
 * A schedule's rule as a caller gives it, checked and completed.
 *
 * Holds: what is stored can be read again, comes at some time, and does nothing that its writer may not do.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { readCron, type Cron } from "@/lib/base/cron";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { ScheduleRow } from "@/lib/store/schedules";
import { requireVersion } from "../charts/require-version";
import { findLiveInstance } from "../instances/get-instance";
import type { RuntimeContext } from "../runtime-context";
import {
  requireLabels,
  requireOutsideType,
  requirePayload,
  requirePriority,
  requireText,
} from "../require-payload";
import { misfireMaxDefault } from "../limits";
import type { Misfire } from "./schedule-rules";
import { actionOf, type ScheduleAction } from "./schedule-views";

export interface RuleArgs {
  /** Five fields, or six with seconds before them. */
  cron: string;
  /** IANA; default UTC. */
  timeZone?: string | undefined;
  action:
    | {
        kind: "start";
        chartId: string;
        /** Default: the newest one at each tick. */
        version?: number | undefined;
        input?: Json | undefined;
        businessKey?: string | undefined;
        labels?: Record<string, string> | undefined;
        priority?: number | undefined;
      }
    | {
        kind: "send";
        to: { instanceId: string } | { businessKey: string };
        type: string;
        data?: Json | undefined;
      };
  /** What becomes of ticks that nobody was there for; default `once`. */
  misfire?: Misfire | undefined;
  /** Of `all`. */
  misfireMax?: number | undefined;
  /** No tick until it is resumed. */
  paused?: boolean | undefined;
}

type Rule = Pick<
  ScheduleRow,
  "cron" | "timeZone" | "action" | "chartId" | "misfire" | "misfireMax" | "paused"
>;

/** Throws `bad-request` naming the field, `payload-too-large`, `forbidden`. */
export function readRule(actor: Actor, args: RuleArgs): { rule: Rule; cron: Cron } {
  requirePermission(actor, "schedules:write");
  const timeZone = args.timeZone ?? "UTC";
  const cron = readCron(args.cron, timeZone);
  if ("problem" in cron) throw badField(cron.field, cron.problem);
  const action = readAction(actor, args.action);
  return {
    cron,
    rule: {
      cron: args.cron,
      timeZone,
      action: JSON.stringify(action),
      chartId: action.kind === "start" ? action.chartId : null,
      misfire: args.misfire ?? "once",
      misfireMax: args.misfireMax ?? misfireMaxDefault,
      paused: args.paused ? 1 : 0,
    },
  };
}

function readAction(actor: Actor, action: RuleArgs["action"]): ScheduleAction {
  if (action.kind === "send") {
    requirePermission(actor, "events:send");
    requireOutsideType(requireText(action.type, "action.type"));
    const { to, type, data = null } = action;
    requireText("instanceId" in to ? to.instanceId : to.businessKey, "action.to");
    requirePayload(data, "action.data");
    return { kind: "send", to, type, data };
  }
  requirePermission(actor, "instances:start");
  const { chartId, version = null, input = null, businessKey = null, labels = {}, priority = 0 } = action;
  requireText(chartId, "action.chartId");
  requireText(businessKey ?? "", "action.businessKey");
  requirePayload(input, "action.input");
  requireLabels(labels, "action.labels");
  requirePriority(priority, "action.priority");
  return { kind: "start", chartId, version, input, businessKey, labels, priority };
}

/**
 * What the action names: a chart, a version of it, an instance. A business key is looked for at each tick: whoever has it by
 * then is meant. Throws `not-found`, `version-not-found`.
 */
export async function requireTarget({ store }: RuntimeContext, rule: Pick<Rule, "action">): Promise<void> {
  const action = actionOf(rule);
  if (action.kind === "start") await requireVersion(store, action);
  else if ("instanceId" in action.to) await findLiveInstance(store, action.to.instanceId);
}

/** The first tick after `now`; null while it is paused. Throws `bad-request` when no time ever comes. */
export function firstTick(
  cron: Cron,
  { cron: expression, paused }: Pick<Rule, "cron" | "paused">,
  now: number,
): number | null {
  const next = cron.next(now);
  if (next === null) throw badField("cron", `No time of ${expression} lies ahead: it would never fire.`);
  return paused ? null : next;
}

const badField = (field: string, problem: string): LockstepError =>
  new LockstepError("bad-request", `${field}: ${problem}`, { details: { field } });
