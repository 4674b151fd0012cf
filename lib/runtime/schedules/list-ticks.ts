/** What became of a schedule's ticks, newest first. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "../call";
import { scheduleNotFound } from "./change-schedule";
import type { RuntimeContext } from "../runtime-context";
import { viewTick, type TickView } from "./schedule-views";

/** Throws `not-found`. */
export async function listTicks(
  { store }: RuntimeContext,
  actor: Actor,
  { scheduleId, cursor, limit }: PageArgs & { scheduleId: string },
): Promise<Page<TickView>> {
  requirePermission(actor, "schedules:read");
  if (!(await store.findSchedule(scheduleId))) throw scheduleNotFound(scheduleId);
  const size = pageLimit(limit);
  const before = readCursor(cursor, { n: 0 })?.n ?? null;
  const rows = await store.listTicks(scheduleId, before, size + 1);
  return pageOf(rows, size, ({ n }) => ({ n }), viewTick);
}
