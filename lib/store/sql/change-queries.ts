/**
 * The feed of committed changes: read from the logs themselves by their change position.
 *
 * Holds: what is shown is never overtaken: PostgreSQL readers stop below the oldest transaction still open
 *        (pg_snapshot_xmin), because a serial would show a late commit behind a reader's back; on SQLite commits come in
 *        position order anyway. A position before something that retention removed is answered by `resync`.
 * A position is `transaction.place`.
 */
import { must } from "@/lib/base/assert";
import type { StoredChange, StoredChanges } from "../store";
import type { Provider, Reader } from "./connection";
import { empty, sql, type Sql } from "./statement";

interface ChangeRow {
  tx: number;
  n: number;
  kind: "instance" | "lock" | "chart";
  id: string;
  number: number;
  status: string;
}

/** Nothing that is committed from now on is shown before it. */
export const feedHead = (provider: Provider): Sql =>
  provider === "sqlite"
    ? sql`(SELECT "tx" + 1 FROM "clock")`
    : sql`(SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + "tx_base" FROM "clock")`;

export async function readChanges(
  handle: Reader,
  provider: Provider,
  position: string | null,
  limit: number,
): Promise<StoredChanges> {
  const [bound] = await handle.query<{ head: number; purged: number | null }>(
    sql`SELECT ${feedHead(provider)} AS "head", (SELECT max("purged_tx") FROM "retention") AS "purged"`,
  );
  const { head: headTx, purged } = must(bound, "a head");
  const from = position === null ? null : parsePosition(position);
  // What retention has removed can't be told any more.
  const misses = from !== null && (purged ?? 0) > 0 && from.tx <= (purged ?? 0);
  if (from === null || from.tx > headTx || misses) {
    return { changes: [], position: `${headTx}.0`, resync: position !== null };
  }
  const rows = await handle.query<ChangeRow>(changesBetween(provider, from, headTx, limit));
  const changes = rows.map(changeOf);
  return { changes, position: changes.at(-1)?.position ?? position ?? `${headTx}.0`, resync: false };
}

/** SQLite merges the logs as their indexes give them; one that is bounded it would sort first, though it is in order. */
export function changesBetween(
  provider: Provider,
  from: { tx: number; n: number },
  headTx: number,
  limit: number,
): Sql {
  const first = provider === "sqlite" ? empty : sql` ORDER BY "change_tx", "change_n" LIMIT ${limit}`;
  const after = sql`("change_tx", "change_n") > (${from.tx}, ${from.n}) AND "change_tx" < ${headTx}${first}`;
  return sql`SELECT * FROM (SELECT "change_tx" AS "tx", "change_n" AS "n", 'instance' AS "kind", "instance_id" AS "id", "seq" AS "number", "status" FROM "event_log" WHERE ${after}) AS a UNION ALL SELECT * FROM (SELECT "change_tx", "change_n", 'lock', "key", "fence", '' FROM "lock_log" WHERE ${after}) AS b UNION ALL SELECT * FROM (SELECT "change_tx", "change_n", 'chart', "id", "revision", '' FROM "charts" WHERE ${after}) AS c ORDER BY 1, 2 LIMIT ${limit}`;
}

function changeOf({ tx, n, kind, id, number, status }: ChangeRow): StoredChange {
  const position = `${tx}.${n}`;
  switch (kind) {
    case "instance":
      return { kind, id, seq: number, status, position };
    case "lock":
      return { kind, key: id, fence: number, position };
    case "chart":
      return { kind, id, revision: number, position };
  }
}

function parsePosition(position: string): { tx: number; n: number } | null {
  const match = /^(\d{1,15})\.(\d{1,9})$/.exec(position);
  return match ? { tx: Number(match[1]), n: Number(match[2]) } : null;
}
