/**
 * The first turn of an instance, whoever starts it: its row, its first entry, and what it sent itself; or its place in the
 * line for its concurrency key.
 *
 * Holds: a deleted id's seq goes on behind its tombstone.
 */
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import { instanceKeys, type InstanceKeys } from "@/lib/statechart/instance-keys";
import type { Machine } from "@/lib/statechart/machine";
import { snapshotHash, type Snapshot } from "@/lib/statechart/snapshot";
import type { ParentRef } from "@/lib/store/children";
import { chartKeyScope } from "@/lib/store/concurrency";
import type { InstanceRow } from "@/lib/store/instances";
import type { StepWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import { engineSemantics } from "../limits";
import { partitionOf } from "../new-id";
import { Turn, unstarted, type Start } from "../stepping/turn";
import type { Then } from "../stepping/in-line";

export interface Beginning {
  id: string;
  chartId: string;
  version: number;
  input: Json;
  priority: number;
  /** Null: what the chart's settings say. */
  businessKey: string | null;
  /** The invocation that it is. */
  parent: ParentRef | null;
  actor: string;
  cause: string | null;
  dedupeKey: string | null;
}

/**
 * `tombstone`: the deleted instance of that id, held. When another has its concurrency key, it is `queued`. Throws
 * `bad-request` when a key of the chart's settings can't be told from the input.
 */
export async function beginInstance(
  tx: StoreTransaction,
  machine: Machine,
  begun: Beginning,
  now: number,
  tombstone: InstanceRow | undefined,
  writes: StepWrites,
): Promise<Turn> {
  const { id, chartId, actor, cause, dedupeKey } = begun;
  const keys = keysOf(machine, begun, now);
  const row = {
    ...freshRow(begun, now, tombstone),
    ...keys,
    businessKey: begun.businessKey ?? keys.businessKey,
  };
  const start: Start = {
    input: { kind: "start", id, name: chartId, input: begun.input },
    actor,
    cause,
    dedupeKey,
  };
  const { concurrencyKey: key } = keys;
  const then: Then = { kind: "start", start };
  const mine =
    key === null ||
    (await tx.takeKey({ scope: chartKeyScope(chartId), key }, id, row.createdAt, JSON.stringify(then)));
  if (!mine) return queued(machine, row, start, now, writes);
  const turn = new Turn(machine, row, null, now, writes, [], false);
  turn.begin(start);
  turn.run(
    () => null,
    () => false,
  );
  turn.finish();
  return turn;
}

/** It makes no step yet; workers/begin-queued.ts takes it up. */
function queued(
  machine: Machine,
  fresh: InstanceRow,
  { input: { id, name, input } }: Start,
  now: number,
  writes: StepWrites,
): Turn {
  const snapshot: Snapshot = { ...unstarted, session: { id, input, name } };
  const row: InstanceRow = {
    ...fresh,
    status: "queued",
    snapshot: JSON.stringify(snapshot),
    stateHash: snapshotHash(snapshot),
  };
  writes.created.push(row);
  return new Turn(machine, row, snapshot, now, writes, [], false);
}

function keysOf(machine: Machine, { id, chartId, input }: Beginning, now: number): InstanceKeys {
  const { keys, errors } = instanceKeys(machine, { id, name: chartId, input }, now);
  const [error] = errors;
  if (!error) return keys;
  throw new LockstepError(
    "bad-request",
    `The chart ${chartId} says by ${error.field ?? "settings"} what key an instance has, and it can't be told from this input: ${error.message}`,
    { details: { field: "input", setting: error.field ?? null } },
  );
}

function freshRow(
  { id, chartId, version, priority, parent }: Beginning,
  now: number,
  tombstone: InstanceRow | undefined,
): Omit<InstanceRow, keyof InstanceKeys> {
  const at = Math.max(now, tombstone?.at ?? 0);
  return {
    id,
    incarnation: tombstone ? tombstone.incarnation : 1,
    status: "running",
    chartId,
    version,
    semantics: engineSemantics,
    seq: tombstone?.seq ?? 0,
    at,
    priority,
    rank: at - priority * 60_000,
    partition: partitionOf(id),
    configuration: "[]",
    snapshot: "",
    stateHash: "",
    snapshotSeq: tombstone?.seq ?? 0,
    logBytes: 0,
    lastEvent: null,
    errorCode: null,
    errorMessage: null,
    createdAt: at,
    updatedAt: at,
    endedAt: null,
    deletedAt: null,
    session: null,
    parent: parent && JSON.stringify(parent),
  };
}
