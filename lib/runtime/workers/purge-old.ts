/**
 * Forgets what is over and was kept for its time, rule by rule, portion by portion, each a short transaction.
 *
 * Holds: I4 an answer is never removed while its message waits. I5 an instance's log is cut only before a kept snapshot.
 *        I7 a lock's log is cut by putting what it came to in its place. A portion that was cut off is done again: the walk's
 *        place moves in the portion's own transaction. Archives are on disk before rows go.
 */
import { systemActor } from "@/lib/access/actor";
import { activeStates } from "@/lib/statechart/active-states";
import type { Snapshot } from "@/lib/statechart/snapshot";
import { minuteOf, type FleetDelta } from "@/lib/store/fleet";
import type { InstanceRow } from "@/lib/store/instances";
import {
  plainRules,
  type EndRule,
  type PlainRule,
  type RetentionRow,
  type RuleName,
} from "@/lib/store/retention";
import { configurationOf } from "../instances/instance-views";
import { noWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import { writeArchive } from "../operations/archive-file";
import { newAuditId } from "../new-id";
import { checkpointOf } from "../locks/lock-checkpoint";
import { withMachines } from "../charts/machines";
import { pause } from "../pause";
import { isDue, isEndRule, readWalk, type WalkCursor } from "../operations/retention-rules";
import type { RuntimeContext } from "../runtime-context";
import { releaseStateLocks } from "../locks/state-locks";

/** Rows looked at in one transaction; log entries removed in one. */
const rowsMax = 500;
const entriesMax = 1_000;
/** Instances archived and purged together. */
const instancesMax = 20;
const lookEveryMs = 1_000;
/** Between portions: others come first. */
const restMs = 10;
/** A worker that writes an archive is taken for dead after this. */
const archiveMaxMs = 120_000;

export interface PurgeOptions {
  workerId: string;
  /** Where archives are written. */
  archiveFolder: string;
}

const isPlain = (rule: RuleName): rule is PlainRule => (plainRules as readonly string[]).includes(rule);

export class Purger {
  private nextAt = 0;
  private last: RuleName | null = null;
  /** Rules looked at since the last portion. */
  private idle = 0;

  constructor(
    private readonly context: RuntimeContext,
    private readonly options: PurgeOptions,
  ) {}

  /** A loop's round; true when there is more. */
  async round(): Promise<boolean> {
    if (performance.now() < this.nextAt) return false;
    const { store, closing } = this.context;
    const now = await store.now();
    const due = (await store.listRetention()).filter((row) => isDue(row, now));
    // One after the other: a long walk must not hold up the others.
    const next = due.find(({ rule }) => this.last === null || rule > this.last) ?? due[0];
    this.last = next?.rule ?? null;
    if (!next || !(await purgePortion(this.context, this.options, next.rule))) {
      this.idle += 1;
      if (this.idle < due.length) return true;
      // Of each there was nothing to do, or another worker is at it.
      this.idle = 0;
      this.nextAt = performance.now() + lookEveryMs;
      return false;
    }
    this.idle = 0;
    await pause(restMs, closing);
    return true;
  }
}

/** Every walk that is due now, to its end. For who drives time by hand. */
export async function purgeDue(context: RuntimeContext, options: PurgeOptions): Promise<void> {
  const now = await context.store.now();
  const due = (await context.store.listRetention()).filter((row) => isDue(row, now)).map(({ rule }) => rule);
  // What the other rules leave behind goes with it.
  const last = (rule: RuleName) => Number(rule === "deleted");
  for (const rule of due.sort((a, b) => last(a) - last(b))) {
    while (await purgePortion(context, options, rule));
  }
}

/** False: there was nothing to do, or another worker is at it. */
export async function purgePortion(
  context: RuntimeContext,
  options: PurgeOptions,
  rule: RuleName,
): Promise<boolean> {
  if (isEndRule(rule)) return purgeEnded(context, options, rule);
  return context.store.transaction(async (tx) => {
    const row = await tx.holdRule(rule);
    const now = await tx.now();
    if (!row || !isDue(row, now)) return false;
    const place = readWalk(row)?.place ?? null;
    const bound = row.keepMs === null ? null : now - row.keepMs;
    const done = await portion(tx, rule, place, bound);
    await tx.writeRule(moved(row, now, done));
    return done.removed > 0 || done.next !== null;
  });
}

interface Done {
  removed: number;
  next: string | null;
  purgedTx?: number;
}

function portion(
  tx: StoreTransaction,
  rule: RuleName,
  place: string | null,
  bound: number | null,
): Promise<Done> {
  if (rule === "deleted") return purgeDoomed(tx, bound);
  if (bound === null) return Promise.resolve({ removed: 0, next: null });
  if (isPlain(rule)) return tx.sweep(rule, place, { bound, limit: rowsMax, dry: false });
  if (rule === "batches") return tx.sweepBatches(place ?? "", { bound, limit: entriesMax, dry: false });
  return rule === "event-log" ? compactLogs(tx, place ?? "", bound) : compactLocks(tx, place ?? "", bound);
}

const moved = (row: RetentionRow, now: number, { removed, next, purgedTx = 0 }: Done): RetentionRow => ({
  ...row,
  cursor: next === null ? null : JSON.stringify({ place: next } satisfies WalkCursor),
  walkBegan: row.cursor === null ? now : row.walkBegan,
  walkEnded: next === null ? now : row.walkEnded,
  removed: row.removed + removed,
  purgedTx: Math.max(row.purgedTx, purgedTx),
});

async function purgeDoomed(tx: StoreTransaction, bound: number | null): Promise<Done> {
  const [log] = await tx.findDoomed(bound, 1);
  if (!log) return { removed: 0, next: null };
  const { removed, more, purgedTx } = await tx.removeLog(log.instanceId, log.upToSeq + 1, entriesMax);
  if (!more) await tx.removeDoomed(log);
  // Not counted for the fleet yet: the next walk finds it.
  return { removed, purgedTx, next: more && removed === 0 ? null : "" };
}

async function compactLogs(tx: StoreTransaction, place: string, bound: number): Promise<Done> {
  const found = await tx.findCompactable(place, bound, rowsMax / 5);
  let after = place;
  for (const { instanceId, seq, entries } of found) {
    if (entries > 0) {
      const { removed, more, purgedTx } = await tx.removeLog(instanceId, seq, entriesMax);
      if (removed > 0) return { removed, purgedTx, next: more ? after : instanceId };
    }
    after = instanceId;
  }
  return { removed: 0, next: found.length < rowsMax / 5 ? null : after };
}

async function compactLocks(tx: StoreTransaction, place: string, bound: number): Promise<Done> {
  const [found] = await tx.findAgedLocks(place, bound, 1);
  if (!found) return { removed: 0, next: null };
  const prefix = await tx.readLockPrefix(found.key, found.seq, entriesMax);
  const checkpoint = checkpointOf(found.key, prefix);
  const { removed, purgedTx } = await tx.replaceLockPrefix(checkpoint);
  return { removed, purgedTx, next: checkpoint.seq < found.seq ? place : found.key };
}

async function purgeEnded(
  context: RuntimeContext,
  { workerId, archiveFolder }: PurgeOptions,
  rule: EndRule,
): Promise<boolean> {
  const { store } = context;
  const claim = await store.transaction(async (tx) => {
    const row = await tx.holdRule(rule);
    const now = await tx.now();
    if (!row || row.keepMs === null || !isDue(row, now)) return null;
    const walk = readWalk(row) ?? { place: null };
    if (walk.by !== undefined && walk.by !== workerId && (walk.until ?? 0) > now) return null;
    const mine: WalkCursor = { place: walk.place, by: workerId, until: now + archiveMaxMs };
    const walkBegan = row.cursor === null ? now : row.walkBegan;
    await tx.writeRule({ ...row, cursor: JSON.stringify(mine), walkBegan });
    return { row, now, place: walk.place };
  });
  if (!claim) return false;
  const { now, place, row } = claim;
  const after = place === null ? null : (JSON.parse(place) as { createdAt: number; id: string });
  const found = await store.listEnded(rule, after, now - (row.keepMs ?? 0), instancesMax);
  const ended = found.filter((instance) => instance.ended === 1);
  const instanceIds = ended.map(({ id }) => id);
  const archive =
    row.then === "archive" && ended.length > 0
      ? await writeArchive(store, archiveFolder, { rule, at: now, instanceIds, by: workerId })
      : null;
  const last = found.length < instancesMax ? undefined : found.at(-1);
  const next = last ? JSON.stringify({ createdAt: last.createdAt, id: last.id }) : null;
  return withMachines(context.machines, () =>
    store.transaction(async (tx) => {
      const held = await tx.holdRule(rule);
      // Another took over, or the rule was changed meanwhile: the archive holds copies of what stays.
      if (!held || readWalk(held)?.by !== workerId) return false;
      const rows = (await tx.lockInstances(instanceIds, { skipBusy: true })).filter((one) =>
        ended.some(
          ({ id, seq, incarnation }) =>
            one.id === id && one.seq === seq && one.incarnation === incarnation && one.status === rule,
        ),
      );
      const removed = await forget(context, tx, rows, archive);
      await tx.writeRule(moved(held, await tx.now(), { removed, next }));
      return removed > 0 || next !== null;
    }),
  );
}

/** A tombstone stays of each, so that its id's seq goes on; what its log holds goes behind it, portion by portion. */
async function forget(
  context: RuntimeContext,
  tx: StoreTransaction,
  rows: readonly InstanceRow[],
  archive: string | null,
): Promise<number> {
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  await tx.holdTasksOf(ids);
  const now = await tx.now();
  await releaseStateLocks(tx, new Map(ids.map((id) => [id, null])), now);
  // No log entry tells of it, and the present minute's counts are made of those alone: it is of the minute before.
  const minute = minuteOf(now) - 1;
  const left = rows.flatMap((row): FleetDelta[] => {
    const { chartId, version } = row;
    const states = activeStates(context.machines.get(row), configurationOf(row));
    return states.map((state) => ({ chartId, version, state, minute, entered: 0, left: 1 }));
  });
  await tx.writeSteps({
    ...noWrites(),
    changed: rows.map((row) => tombstoneOf(row, now, archive === null ? "purged" : "archived")),
    configurations: rows.map((row) => ({ instanceId: row.id, left: configurationOf(row), entered: [] })),
    emptied: ids,
  });
  const forgotten = await tx.forgetInstances(ids);
  await tx.addDoomed(
    rows.map(({ id, seq }) => ({ instanceId: id, upToSeq: seq, deletedAt: now, atOnce: 1 })),
  );
  await tx.holdFleet();
  await tx.addFleet(summed(left));
  await tx.writeAudit({
    id: newAuditId(),
    at: now,
    actor: systemActor.id,
    action: archive === null ? "purge-instances" : "archive-instances",
    target: `retention:${rows[0]?.status ?? ""}`,
    outcome: "done",
    details: JSON.stringify({ instances: ids.length, archive }),
  });
  return ids.length + forgotten;
}

function tombstoneOf(row: InstanceRow, now: number, lastEvent: string): InstanceRow {
  const nothing: Snapshot = {
    status: "completed",
    configuration: [],
    context: {},
    session: { id: row.id, input: null },
    history: {},
    generations: {},
    invocations: {},
    timers: {},
  };
  const status = row.status === "failed" ? "terminated" : row.status;
  const blank = { businessKey: null, errorMessage: null, errorCode: null, session: null, parent: null };
  return {
    ...row,
    ...blank,
    incarnation: row.incarnation + 1,
    status,
    configuration: "[]",
    snapshot: JSON.stringify(nothing),
    snapshotSeq: row.seq,
    logBytes: 0,
    lastEvent,
    updatedAt: now,
    endedAt: row.endedAt ?? now,
    deletedAt: now,
  };
}

function summed(deltas: readonly FleetDelta[]): FleetDelta[] {
  const sums = new Map<string, FleetDelta>();
  for (const delta of deltas) {
    const key = JSON.stringify([delta.chartId, delta.version, delta.state]);
    const known = sums.get(key);
    sums.set(key, known ? { ...known, left: known.left + delta.left } : delta);
  }
  return [...sums.values()];
}

/** What a portion would remove, for a dry run. */
export async function portionOf(
  { store }: Pick<RuntimeContext, "store">,
  rule: RuleName,
  place: string | null,
  bound: number,
): Promise<{ count: number; next: string | null }> {
  if (isEndRule(rule)) {
    const after = place === null ? null : (JSON.parse(place) as { createdAt: number; id: string });
    const found = await store.listEnded(rule, after, bound, rowsMax);
    const last = found.length < rowsMax ? undefined : found.at(-1);
    const next = last ? JSON.stringify({ createdAt: last.createdAt, id: last.id }) : null;
    return { count: found.filter(({ ended }) => ended === 1).length, next };
  }
  return store.transaction(async (tx) => {
    if (isPlain(rule)) {
      const { removed, next } = await tx.sweep(rule, place, { bound, limit: rowsMax, dry: true });
      return { count: removed, next };
    }
    if (rule === "batches") {
      const { removed, next } = await tx.sweepBatches(place ?? "", { bound, limit: entriesMax, dry: true });
      return { count: removed, next };
    }
    if (rule === "deleted") return { count: (await tx.findDoomed(bound, 10 * rowsMax)).length, next: null };
    if (rule === "event-log") {
      const found = await tx.findCompactable(place ?? "", bound, rowsMax);
      const count = found.filter(({ entries }) => entries > 0).length;
      return { count, next: found.length < rowsMax ? null : (found.at(-1)?.instanceId ?? null) };
    }
    const found = await tx.findAgedLocks(place ?? "", bound, rowsMax);
    return { count: found.length, next: found.length < rowsMax ? null : (found.at(-1)?.key ?? null) };
  });
}
