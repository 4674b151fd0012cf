/**
 * The one function that reads time (I10).
 *
 * Holds: PostgreSQL: the server's clock_timestamp(), read in a statement of its own, so after every row lock taken before.
 *        SQLite: the machine's clock, read inside the write lock and never below the stored high-water mark.
 * In tests only, the stored offset moves it.
 */
import { uptime } from "node:os";
import { must } from "@/lib/base/assert";
import type { Provider } from "./connection";
import { sql, type Handle, type Sql } from "./statement";

interface Reading {
  now: number;
}

/** For showing; decides nothing. */
export async function readClock(
  handle: Pick<Handle, "query">,
  provider: Provider,
  machine: () => number = machineNow,
): Promise<number> {
  const [row] = await handle.query<Reading>(sql`SELECT ${nowIn(provider, machine)} AS "now" FROM "clock"`);
  return must(row, "the clock has its row").now;
}

/** The same as an expression over the clock's row. */
export const nowIn = (provider: Provider, machine: () => number = machineNow): Sql =>
  provider === "sqlite"
    ? sql`max("high_water_ms", ${machine()} + "offset_ms")`
    : sql`floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + "offset_ms"`;

/**
 * SQLite: opens a writing transaction's books: counts it, and raises the high-water mark to the time it returns.
 */
export async function beginOnSqlite(handle: Handle, machine: () => number = machineNow): Promise<number> {
  const [row] = await handle.query<Reading>(
    sql`UPDATE "clock" SET "tx" = "tx" + 1, "high_water_ms" = max("high_water_ms", ${machine()} + "offset_ms") WHERE "id" = 1 RETURNING "high_water_ms" AS "now"`,
  );
  return must(row, "the clock has its row").now;
}

/** A larger step forward is a clock set wrong, not time passing: followed, it would fire every timer at once. */
const jumpMaxMs = 5 * 60_000;
let refusedMs = 0;
let last: { wallMs: number; uptimeMs: number } | null = null;

/**
 * The machine's clock, less the jumps it has made while we ran. The system's uptime tells a jump from a night asleep:
 * both advance it, only the jump doesn't. What happened before this process started can't be told: it is believed.
 */
function machineNow(): number {
  const wallMs = Date.now();
  const uptimeMs = uptime() * 1000;
  if (last) {
    const jumpMs = wallMs - last.wallMs - (uptimeMs - last.uptimeMs);
    if (jumpMs > jumpMaxMs) refusedMs += Math.round(jumpMs);
    // Set right again.
    else if (refusedMs > 0 && jumpMs < -jumpMaxMs) refusedMs = Math.max(0, refusedMs + Math.round(jumpMs));
  }
  last = { wallMs, uptimeMs };
  return wallMs - refusedMs;
}

/** Null, or the sentence that health shows. */
export const clockTrouble = (): string | null =>
  refusedMs === 0
    ? null
    : `This machine's clock jumped ${Math.round(refusedMs / 1000)} s forward; the jump is not followed. Set the clock right, or restart to accept it.`;
