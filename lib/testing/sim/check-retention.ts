/**
 * What must hold at a seed's end of what retention has left, and of what it has removed. A part of check.ts, before the removed
 * rows are put back.
 */
import { canonicalJson } from "@/lib/base/canonical";
import { rebuildState } from "@/lib/runtime/instances/rebuild-state";
import { foldLockLog } from "@/lib/runtime/locks/lock-rules";
import type { Machines } from "@/lib/runtime/charts/machines";
import { hasNotBegun } from "@/lib/runtime/instances/instance-views";
import type { InstanceRow, LogRow } from "@/lib/store/instances";
import type { RuleName } from "@/lib/store/retention";
import type { Store } from "@/lib/store/store";
import type { Random } from "../random-chart";
import type { History } from "./history";
import { all, withDescendants } from "./instance-end";
import type { RemovedRows } from "./removed-rows";
import type { World } from "./world";

/** What a seed keeps for how long; what is not in it is kept for ever. */
export type Policy = ReadonlyMap<RuleName, number>;

const answersMs = 3_600_000;
const shortRules = [
  "lock-answers",
  "tasks",
  "dead-letters",
  "audit",
  "completed",
  "failed",
  "cancelled",
  "terminated",
  "deleted",
  "event-log",
  "lock-log",
  "batches",
] as const satisfies RuleName[];

export function choosePolicy(random: Random): Policy {
  const policy = new Map<RuleName, number>([["answers", answersMs]]);
  for (const rule of shortRules) {
    if (!random.chance(0.7)) continue;
    policy.set(rule, rule === "lock-answers" ? answersMs : random.pick([5_000, 30_000, 120_000]));
  }
  return policy;
}

/** Without a worker's or a person's deed: a seed begins with it. */
export async function setPolicy(store: Store, policy: Policy): Promise<void> {
  await store.transaction(async (tx) => {
    for (const [rule, keepMs] of policy) {
      const row = await tx.holdRule(rule, { wait: true });
      if (row) await tx.writeRule({ ...row, keepMs, then: "purge" });
    }
  });
}

export interface Retained {
  store: Store;
  machines: Machines;
  history: History;
  policy: Policy;
  removed: RemovedRows;
  world: Pick<World, "clock" | "purged" | "enqueuedBy">;
}

export async function checkRetained(seen: Retained): Promise<string[]> {
  const wrong: string[] = [];
  const { store, history } = seen;
  for (const id of await withDescendants(store, history.instanceIds)) {
    const row = await store.findInstance(id);
    if (row?.deletedAt === null && !hasNotBegun(row)) await checkKeptLog(seen, row, wrong);
  }
  for (const key of history.lockKeys) await checkKeptLockLog(store, key, wrong);
  checkWhole(seen, wrong);
  checkCovered(seen, wrong);
  checkPurged(seen, wrong);
  return wrong;
}

/**
 * I1, I5: from its oldest entry on, an instance's log is whole, and replays from the oldest snapshot there. The entries before
 * that one are those of a cut that is under way.
 */
async function checkKeptLog({ store, machines }: Retained, row: InstanceRow, wrong: string[]): Promise<void> {
  const { id, incarnation } = row;
  const log = (await store.readLog(id, 0, all)).filter((entry) => entry.incarnation === incarnation);
  const [first] = log;
  if (!first || log.at(-1)?.seq !== row.seq || row.seq - first.seq + 1 !== log.length) {
    wrong.push(
      `I1: of ${id}'s log up to ${row.seq}, ${log.length} entries from ${first?.seq ?? "none"} on are left`,
    );
    return;
  }
  const base = isBeginning(first)
    ? first.seq
    : (await store.readSnapshots(id)).find(({ seq }) => seq >= first.seq)?.seq;
  const rebuildable = log.filter(({ seq }) => seq >= (base ?? Infinity));
  const middle = rebuildable[Math.floor(rebuildable.length / 2)];
  if (!middle) wrong.push(`I5: ${id}'s log is cut at ${first.seq}, and no snapshot is left behind it`);
  for (const entry of new Set([rebuildable[0], middle, rebuildable.at(-1)])) {
    const rebuilt = entry && (await rebuildState(store, machines, id, entry.seq));
    if (entry && rebuilt?.rebuiltHash !== entry.stateHash)
      wrong.push(
        `I5: ${id}'s log is kept from ${first.seq} on, and ${rebuilt ? "another" : "no"} state is rebuilt at ${entry.seq}`,
      );
  }
}

const isBeginning = ({ kind, input }: LogRow): boolean =>
  kind === "start" || "snapshot" in (JSON.parse(input) as object);

/** I7: from its checkpoint on. */
async function checkKeptLockLog(store: Store, key: string, wrong: string[]): Promise<void> {
  const log = (await store.listLockLog(key, null, all)).reverse();
  const [row] = await store.findLocks([key]);
  const [first] = log;
  if (!row || !first) return;
  if (first.seq > 1 && first.type !== "CHECKPOINT")
    wrong.push(`I7: the log of ${key} begins with ${first.seq} ${first.type}`);
  log.forEach(({ seq, type }, index) => {
    if (seq !== first.seq + index)
      wrong.push(`I7: the log of ${key} has ${seq} where ${first.seq + index} should be`);
    if (type === "CHECKPOINT" && index > 0) wrong.push(`I7: ${key}#${seq} is a second checkpoint`);
  });
  if (canonicalJson({ ...foldLockLog(key, log) }) !== canonicalJson({ ...row }))
    wrong.push(`I7: the row of ${key} is not the fold of what is kept of its log`);
}

/** What only an instance that lives may have. */
const ofTheLiving = ["instance_states", "instance_fields", "mailbox", "timers", "tasks", "concurrency_waits"];

/** What was removed is whole: no row tells of an instance that is gone, no item of a batch. */
function checkWhole({ removed, world: { purged, enqueuedBy } }: Retained, wrong: string[]): void {
  const orphans = (table: string, condition: string, column = "instance_id") => {
    const rows = removed.query<{ id: string; n: number }>(
      `SELECT "${column}" AS "id", count(*) AS "n" FROM "${table}" AS t WHERE ${condition} GROUP BY 1`,
    );
    for (const { id, n } of rows) wrong.push(`I2: ${n} rows in ${table} are left of ${id}, which is gone`);
  };
  const noRow = (also: string) =>
    `NOT EXISTS (SELECT 1 FROM "instances" AS i WHERE i."id" = t."instance_id" AND ${also})`;
  for (const table of ofTheLiving) orphans(table, noRow(`i."deleted_at" IS NULL`));
  const known = `(i."deleted_at" IS NULL OR i."last_event" IS NOT 'purged')`;
  const forgotten = noRow(known);
  orphans("instance_labels", forgotten);
  const letters = removed.query<{ id: string; messageId: string }>(
    `SELECT "instance_id" AS "id", "message_id" AS "messageId" FROM "dead_letters" AS t WHERE ${forgotten}`,
  );
  for (const { id, messageId } of letters) {
    const { tx = Infinity } = purged.findLast((one) => one.id === id) ?? {};
    // Put into a mailbox that was just removed: whose sender was told so finds it here.
    if (!((enqueuedBy.get(messageId) ?? 0) > tx))
      wrong.push(`I2: a dead letter is left of ${id}, which is gone`);
  }
  // A log goes behind its instance, portion by portion.
  const doomed = `EXISTS (SELECT 1 FROM "doomed_logs" AS d WHERE d."instance_id" = t."instance_id" AND d."up_to_seq" >= t."seq")`;
  for (const table of ["event_log", "snapshots"])
    orphans(table, `${noRow(`${known} AND t."incarnation" <= i."incarnation"`)} AND NOT ${doomed}`);
  orphans("batch_items", `NOT EXISTS (SELECT 1 FROM "batches" AS b WHERE b."id" = t."batch_id")`, "batch_id");
  const strays = removed.query<{ id: string }>(
    `SELECT r."instance_id" AS "id" FROM "removed_event_log" AS r JOIN "event_log" AS e ON e."instance_id" = r."instance_id" AND e."seq" < r."seq" AND e."incarnation" = r."incarnation" GROUP BY 1`,
  );
  for (const { id } of strays) wrong.push(`I1: an entry of ${id} is gone and one before it is left`);
}

/** The columns that tell since when a row is over. */
const ages: readonly [table: string, age: string, rule: RuleName][] = [
  ["lock_log", "at", "lock-log"],
  ["batches", "ended_at", "batches"],
];

/** What the policy does not cover loses nothing, and what it covers nothing before its time. */
function checkCovered(
  { removed, policy, world: { clock, purged }, history }: Retained,
  wrong: string[],
): void {
  const latest = Math.max(...clock);
  for (const [table, age, rule] of ages) {
    const bound = latest - (policy.get(rule) ?? Infinity);
    const [early] = removed.query<{ n: number }>(
      `SELECT count(*) AS "n" FROM "removed_${table}" WHERE "${age}" IS NULL OR "${age}" > ?`,
      Number.isFinite(bound) ? bound : -1,
    );
    if (early && early.n > 0) wrong.push(`I9: ${early.n} rows of ${table} were removed before their time`);
  }
  const gone = new Set(purged.map(({ id }) => id));
  const logs = removed.query<{ id: string; at: number }>(
    `SELECT "instance_id" AS "id", max("at") AS "at" FROM "removed_event_log" GROUP BY 1`,
  );
  for (const { id, at } of logs) {
    if (gone.has(id)) continue;
    const deleted = history.deleted.has(id) ? policy.get("deleted") : undefined;
    const keepMs = Math.min(policy.get("event-log") ?? Infinity, deleted ?? Infinity);
    if (!(at <= latest - keepMs)) wrong.push(`I9: ${id} lost entries of its log before their time`);
  }
  const letters = removed.query<{ id: string; at: number }>(
    `SELECT "instance_id" AS "id", max("at") AS "at" FROM "removed_dead_letters" GROUP BY 1`,
  );
  for (const { id, at } of letters)
    if (!gone.has(id) && !(at <= latest - (policy.get("dead-letters") ?? Infinity)))
      wrong.push(`I9: ${id} lost dead letters before their time`);
}

/** An instance is forgotten when it had ended for as long as its rule says: its last entry tells. */
function checkPurged({ removed, policy, world: { purged } }: Retained, wrong: string[]): void {
  for (const { id, incarnation, seq, now } of purged) {
    const [last] = removed.query<{ seq: number; status: string; at: number }>(
      `SELECT * FROM (SELECT "seq", "status", "at" FROM "event_log" WHERE "instance_id" = ? AND "seq" <= ? UNION ALL SELECT "seq", "status", "at" FROM "removed_event_log" WHERE "instance_id" = ? AND "seq" <= ?) ORDER BY "seq" DESC LIMIT 1`,
      id,
      seq,
      id,
      seq,
    );
    const keepMs = policy.get((last?.status ?? "") as RuleName) ?? Infinity;
    if (last?.seq !== seq || !(last.at <= now - keepMs))
      wrong.push(
        `I9: life ${incarnation - 1} of ${id} was forgotten as ${last?.status ?? "nothing"} ${last ? now - last.at : 0} ms after its last entry`,
      );
  }
}
