/** When something happens next by itself. */
import type { Reader } from "./connection";
import { join, sql } from "./statement";
import { firstTimersAfter } from "./timer-queries";

export async function nextDue(handle: Reader, after: number): Promise<number | null> {
  const parts = [
    firstTimersAfter(after),
    sql`SELECT min("due_at") FROM "tasks" WHERE "due_at" > ${after}`,
    sql`SELECT min("ready_at") FROM "tasks" WHERE "queue" IS NOT NULL AND "ready_at" > ${after}`,
    sql`SELECT min("expires_at") FROM "locks" WHERE "session" IS NOT NULL AND "expired" = 0 AND "expires_at" > ${after}`,
    sql`SELECT min("cool_until") FROM "locks" WHERE "cool_until" > ${after}`,
    sql`SELECT min("gives_up_at") FROM "lock_waiters" WHERE "gives_up_at" > ${after}`,
    sql`SELECT min("next_at") FROM "schedules" WHERE "next_at" > ${after}`,
    sql`SELECT min("next_at") FROM "batches" WHERE "next_at" > ${after}`,
  ];
  const [row] = await handle.query<{ at: number | null }>(
    sql`SELECT min("at") AS "at" FROM (${join(parts, " UNION ALL ")}) AS d`,
  );
  return row?.at ?? null;
}
