/**
 * Locks' statements.
 *
 * Holds: I3 a step shares the lock row to its commit, everything that moves a fence takes it FOR UPDATE.
 *        I7 row, log and queue are written together.
 */
import { must } from "@/lib/base/assert";
import { waiterSilentMs } from "@/lib/base/limits";
import type {
  LockCommandRow,
  LockFilter,
  LockListRow,
  LockLogRow,
  LockReads,
  LockRow,
  LockTransaction,
  WaiterRow,
} from "../locks";
import type { Reader } from "./connection";
import { join, raw, sql, type Handle, type Sql } from "./statement";
import type { Dialect } from "./dialect";
import { deleteRows, insertRows, lockCommands, lockLog, locks, lockWaiters, updateRows } from "./tables";

const listFrom = sql`SELECT ${locks.all}, COALESCE(w."count", 0) AS "waiters", w."oldest" AS "oldestWaiterSince", i."id" AS "instanceId", i."status" AS "instanceStatus", i."configuration" AS "instanceConfiguration" FROM "locks" LEFT JOIN (SELECT "key", count(*) AS "count", min("since") AS "oldest" FROM "lock_waiters" GROUP BY "key") AS w ON w."key" = "locks"."key" LEFT JOIN "instances" AS i ON i."id" = "locks"."holder" AND i."deleted_at" IS NULL`;

export function lockReads(handle: Reader, dialect: Dialect): LockReads {
  return {
    async findLock(key) {
      const [row] = await handle.query<LockListRow>(sql`${listFrom} WHERE "locks"."key" = ${key}`);
      return row ?? null;
    },
    listLocks(filter, after, limit, now) {
      const conditions = filtersOf(filter, now);
      if (after) {
        conditions.push(
          sql`(COALESCE(w."count", 0) < ${after.waiters} OR (COALESCE(w."count", 0) = ${after.waiters} AND "locks"."key" > ${after.key}))`,
        );
      }
      return handle.query<LockListRow>(
        sql`${listFrom} WHERE ${join(conditions, " AND ")} ORDER BY "waiters" DESC, "locks"."key" LIMIT ${limit}`,
      );
    },
    findLocks: (keys) =>
      handle.query<LockRow>(
        sql`SELECT ${locks.all} FROM ${locks.name} WHERE "key" IN ${dialect.texts(keys)}`,
      ),
    lockWaitsOf: (sessions) =>
      handle.query(
        sql`SELECT w."key" AS "key", w."session" AS "session", CASE WHEN l."expired" = 0 THEN l."holder" END AS "holder", l."cool_until" AS "coolUntil" FROM "lock_waiters" AS w LEFT JOIN "locks" AS l ON l."key" = w."key" WHERE w."session" IN ${dialect.texts(sessions)} ORDER BY w."key", w."session"`,
      ),
    async countLocks(now) {
      const [row] = await handle.query<{ held: number; waiting: number }>(
        sql`SELECT (SELECT count(*) FROM "locks" WHERE "session" IS NOT NULL AND "expires_at" > ${now}) AS "held", (SELECT count(*) FROM "lock_waiters") AS "waiting"`,
      );
      return must(row, "counts give one row");
    },
    listWaiters: (key) => waitersOf(handle, key),
    listLockLog: (key, before, limit) =>
      handle.query<LockLogRow>(
        sql`SELECT ${lockLog.all} FROM ${lockLog.name} WHERE "key" = ${key} AND "seq" < ${before ?? Number.MAX_SAFE_INTEGER} ORDER BY "seq" DESC LIMIT ${limit}`,
      ),
    findHeads: (keys) =>
      handle.query(
        sql`SELECT "key", "session", "heartbeat_at" AS "heartbeatAt" FROM "lock_waiters" AS w WHERE "key" IN ${dialect.texts(keys)} AND "ticket" = (SELECT min("ticket") FROM "lock_waiters" AS b WHERE b."key" = w."key")`,
      ),
    findReadyStates: (now, limit) =>
      handle.query(
        sql`SELECT w."session" AS "session", w."holder" AS "holder" ${readyStates(now - waiterSilentMs)} LIMIT ${limit}`,
      ),
    async findUnsettled(now, limit) {
      const rows = await handle.query<{ key: string }>(unsettled(now, limit));
      return rows.map((row) => row.key);
    },
    lockWaits: (now, limit) =>
      handle.query(
        sql`SELECT w."key", w."ticket", w."session", w."holder", w."since", t."state", i."chart_id" AS "chartId", i."version", CASE WHEN l."expires_at" > ${now} THEN l."session" END AS "heldBy", l."holder" AS "heldHolder", h."state" AS "heldState" FROM "lock_waiters" AS w JOIN "locks" AS l ON l."key" = w."key" LEFT JOIN "tasks" AS t ON ${isStateOf("t", "w")} LEFT JOIN "instances" AS i ON i."id" = t."instance_id" LEFT JOIN "tasks" AS h ON ${isStateOf("h", "l")} WHERE ${holdAndWait} ORDER BY w."key", w."ticket" LIMIT ${limit}`,
      ),
    sessionsBlocking: (sessions, now) =>
      handle.query(
        sql`SELECT w."session" AS "waiter", l."key" AS "key", l."session" AS "holder" FROM "lock_waiters" AS w JOIN "locks" AS l ON l."key" = w."key" WHERE w."session" IN ${dialect.texts(sessions)} AND l."session" IS NOT NULL AND l."expired" = 0 AND (l."expires_at" IS NULL OR l."expires_at" > ${now})`,
      ),
  };
}

/** `aliveSince`: who has not been heard of since then stands in nobody's way. */
export const readyStates = (aliveSince: number | Sql): Sql =>
  sql`FROM "lock_waiters" AS w JOIN "locks" AS l ON l."key" = w."key" WHERE w."session" LIKE 'state:%' AND (l."session" IS NULL OR l."expired" = 1) AND l."cool_until" IS NULL AND NOT EXISTS (SELECT 1 FROM "lock_waiters" AS b WHERE b."key" = w."key" AND b."ticket" < w."ticket" AND b."heartbeat_at" >= ${aliveSince})`;
/** The lock task whose state that session is. */
const isStateOf = (task: string, place: string): Sql =>
  raw(
    `${task}."instance_id" = ${place}."holder" AND ${place}."session" = 'state:' || ${task}."instance_id" || ':' || ${task}."incarnation" || ':' || ${task}."task_id"`,
  );
/** Scalars, each looked up once: SQLite makes joins of EXISTS, and goes through all waiters for each of them. */
const holdAndWait = sql`(SELECT 1 FROM "lock_waiters" AS v WHERE (SELECT 1 FROM "locks" AS o WHERE o."session" = v."session" LIMIT 1) = 1 OR (v."session" LIKE 'state:%' AND (SELECT 1 FROM "locks" AS o WHERE o."holder" = v."holder" AND o."session" LIKE 'state:%' LIMIT 1) = 1) LIMIT 1) = 1`;
/** Each by its own index; a UNION would have SQLite go through all locks in the order of their keys. */
export const unsettled = (now: number, limit: number): Sql =>
  sql`SELECT "key" FROM (SELECT "key" ${unsettledLocks(now)} UNION ALL SELECT "key" ${cooledLocks(now)} UNION ALL SELECT "key" ${unsettledWaiters(now)}) AS u GROUP BY "key" LIMIT ${limit}`;
export const unsettledLocks = (now: number | Sql): Sql =>
  sql`FROM "locks" WHERE "session" IS NOT NULL AND "expires_at" <= ${now} AND "expired" = 0`;
export const cooledLocks = (now: number | Sql): Sql => sql`FROM "locks" WHERE "cool_until" <= ${now}`;
export const unsettledWaiters = (now: number | Sql): Sql =>
  sql`FROM "lock_waiters" WHERE "gives_up_at" <= ${now}`;

export function lockTransaction(handle: Handle, dialect: Dialect, nextN: () => number): LockTransaction {
  async function lockExisting(key: string): Promise<LockRow | null> {
    const [row] = await handle.query<LockRow>(
      sql`SELECT ${locks.all} FROM ${locks.name} WHERE "key" = ${key} ${dialect.forUpdate}`,
    );
    return row ?? null;
  }
  return {
    async lockLock(key) {
      const fresh: LockRow = {
        key,
        fence: 0,
        holder: null,
        session: null,
        acquiredAt: null,
        renewedAt: null,
        expiresAt: null,
        ttlMs: null,
        expired: 0,
        logSeq: 0,
        nextTicket: 1,
        rejectedWrites: 0,
        holdUntil: null,
        coolMs: null,
        coolUntil: null,
        coolSession: null,
      };
      await insertRows(handle, dialect, locks, [fresh], `ON CONFLICT ("key") DO NOTHING`);
      return must(await lockExisting(key), "the lock's row was just made sure of");
    },
    lockLockIfAny: lockExisting,
    async shareLocks(keys) {
      if (keys.length === 0) return [];
      return handle.query<LockRow>(
        sql`SELECT ${locks.all} FROM ${locks.name} WHERE "key" IN ${dialect.texts(keys)} ORDER BY "key"${dialect.byBytes} ${dialect.forShare}`,
      );
    },
    readWaiters: (key) => waitersOf(handle, key),
    async findLockCommand(key, scope, idem) {
      const [row] = await handle.query<LockCommandRow>(
        sql`SELECT ${lockCommands.all} FROM ${lockCommands.name} WHERE "key" = ${key} AND "scope" = ${scope} AND "idem" = ${idem}`,
      );
      return row ?? null;
    },
    async wasForced(key, fence) {
      const found = await handle.query(
        sql`SELECT 1 FROM ${lockLog.name} WHERE "key" = ${key} AND "fence" = ${fence} AND "type" = 'FORCE_RELEASED'`,
      );
      return found.length > 0;
    },
    async writeLock({ row, log, joined, left, answer }) {
      const set = Object.keys(locks.columns).filter((name) => name !== "key");
      await updateRows(handle, dialect, locks, ["key"], set, [row]);
      await insertRows(
        handle,
        dialect,
        lockLog,
        log.map((entry) => ({ ...entry, changeN: nextN() })),
      );
      await deleteRows(handle, dialect, lockWaiters, ["key", "ticket"], left);
      await insertRows(handle, dialect, lockWaiters, joined);
      await insertRows(handle, dialect, lockCommands, answer ? [answer] : []);
    },
    stateLocksOf: (instanceIds) =>
      handle.query(
        sql`SELECT "key", "session", "holder" FROM "locks" WHERE "holder" IN ${dialect.texts(instanceIds)} AND "session" LIKE 'state:%' UNION SELECT w."key", w."session", w."holder" FROM "lock_waiters" AS w JOIN "tasks" AS t ON w."session" = 'state:' || t."instance_id" || ':' || t."incarnation" || ':' || t."task_id" WHERE t."instance_id" IN ${dialect.texts(instanceIds)} AND t."kind" = 'lock' AND t."status" IN ('pending', 'running') ORDER BY "key"`,
      ),
    async beatWaiters(waiters) {
      await updateRows(handle, dialect, lockWaiters, ["key", "session"], ["heartbeatAt"], waiters);
    },
  };
}

const waitersOf = (handle: Pick<Handle, "query">, key: string): Promise<WaiterRow[]> =>
  handle.query<WaiterRow>(
    sql`SELECT ${lockWaiters.all} FROM ${lockWaiters.name} WHERE "key" = ${key} ORDER BY "ticket"`,
  );

function filtersOf({ status, search }: LockFilter, now: number): Sql[] {
  const conditions = [conditionOf(status, now)];
  if (search !== undefined && search !== "") {
    const found = [sql`"locks"."key"`, sql`"locks"."holder"`, sql`"locks"."session"`].map(
      (where) => sql`lower(${where}) LIKE ${`%${escapeLike(search.toLowerCase())}%`} ESCAPE '!'`,
    );
    conditions.push(sql`(${join(found, " OR ")})`);
  }
  return conditions;
}

function conditionOf(status: LockFilter["status"], now: number): Sql {
  switch (status) {
    case undefined:
      return sql`("locks"."session" IS NOT NULL OR "locks"."cool_until" > ${now} OR w."count" > 0)`;
    case "held":
      return sql`("locks"."session" IS NOT NULL AND "locks"."expires_at" > ${now})`;
    case "expired":
      return sql`("locks"."session" IS NOT NULL AND "locks"."expires_at" <= ${now})`;
    case "free":
      return sql`"locks"."session" IS NULL`;
    case "all":
      return sql`1 = 1`;
  }
}

const escapeLike = (text: string): string => text.replace(/[!%_]/g, (sign) => `!${sign}`);
