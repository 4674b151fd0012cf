/** Schedules by id, each with its newest ticks. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "../call";
import type { RuntimeContext } from "../runtime-context";
import { lastTicksShown, viewSchedule, type ScheduleView } from "./schedule-views";

export interface ListSchedulesArgs extends PageArgs {
  chartId?: string | undefined;
  status?: "active" | "paused" | undefined;
}

export async function listSchedules(
  { store }: RuntimeContext,
  actor: Actor,
  { cursor, limit, chartId, status }: ListSchedulesArgs,
): Promise<Page<ScheduleView> & { now: number }> {
  requirePermission(actor, "schedules:read");
  const size = pageLimit(limit);
  const after = readCursor(cursor, { id: "" })?.id ?? null;
  const paused = status && status === "paused";
  const rows = await store.listSchedules({ chartId, paused }, after, size + 1);
  const ticks = await store.newestTicks(
    rows.slice(0, size).map(({ id }) => id),
    lastTicksShown,
  );
  const page = pageOf(
    rows,
    size,
    ({ id }) => ({ id }),
    (row) => viewSchedule(row, ticks),
  );
  return { ...page, now: await store.now() };
}
