/**
 * The schedules of a seed: they start instances or send events, every minute or more often, and each makes up for missed ticks
 * in a way of its own.
 */
import { cronOf, type ScheduleAction } from "@/lib/runtime/schedules/schedule-views";
import { ticksDueMax, type Misfire } from "@/lib/runtime/schedules/schedule-rules";
import type { ScheduleRow } from "@/lib/store/schedules";
import type { Store } from "@/lib/store/store";
import type { Random } from "../random-chart";
import { all } from "./instance-end";
import { childChart } from "./simulated-family";
import { epochMs } from "./virtual-time";
import { actor } from "./world";

/** Where the clock leaps by an hour, an outage has sixty ticks at most: each may start an instance. */
const often = { steps: ["*/5 * * * *", "* * * * *", "*/20 * * * * *"], leaps: ["*/5 * * * *", "* * * * *"] };

/** One or two. */
export function chooseSchedules(
  random: Random,
  seed: number,
  instanceIds: readonly string[],
  clock: keyof typeof often,
): ScheduleRow[] {
  return ["m", "n"].slice(0, 1 + random.below(2)).map((name) => {
    const id = `s${seed}-${name}`;
    const action: ScheduleAction = random.chance(0.5)
      ? {
          kind: "start",
          chartId: childChart,
          version: 1,
          input: null,
          businessKey: id,
          labels: {},
          priority: 0,
        }
      : { kind: "send", to: { instanceId: random.pick(instanceIds) }, type: "e0", data: null };
    const rule = {
      cron: random.pick(often[clock]),
      timeZone: "UTC",
      action: JSON.stringify(action),
      chartId: action.kind === "start" ? action.chartId : null,
      misfire: random.pick<Misfire>(["skip", "once", "all"]),
      misfireMax: random.pick([1, 3, ticksDueMax]),
      paused: 0,
    };
    const made = { createdAt: epochMs, createdBy: actor.id, updatedAt: epochMs, updatedBy: actor.id };
    return { ...rule, ...made, id, revision: 1, nextAt: cronOf(rule).next(epochMs), ticks: 0 };
  });
}

export async function insertSchedules(store: Store, rows: readonly ScheduleRow[]): Promise<void> {
  await store.transaction(async (tx) => {
    for (const row of rows) await tx.insertSchedule(row);
  });
}

/** What they started carries their id. */
export async function startedBy(store: Store, rows: readonly ScheduleRow[]): Promise<string[]> {
  const found = await Promise.all(rows.map(({ id }) => store.listInstances({ businessKey: id }, null, all)));
  return found.flat().map(({ id }) => id);
}
