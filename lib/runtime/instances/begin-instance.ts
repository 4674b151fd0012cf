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
import { applyStart, startType, type StartInput } from "../stepping/apply-input";
import { engineSemantics } from "../limits";
import { newMessageId, partitionOf } from "../new-id";
import { Turn, unstarted } from "../stepping/turn";

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
 * `tombstone`: the deleted instance of that id, held. When another has its concurrency key, it is `queued`: its start waits in
 * its mailbox. Throws `bad-request` when a key of the chart's settings can't be told from the input.
 */
export async function beginInstance(
  tx: StoreTransaction,
  machine: Machine,
  begun: Beginning,
  now: number,
  tombstone: InstanceRow | undefined,
  writes: StepWrites,
): Promise<Turn> {
  const { id, chartId } = begun;
  const keys = keysOf(machine, begun, now);
  const row = {
    ...freshRow(begun, now, tombstone),
    ...keys,
    businessKey: begun.businessKey ?? keys.businessKey,
  };
  const input: StartInput = { kind: "start", id, name: chartId, input: begun.input };
  const { concurrencyKey } = keys;
  const mine =
    concurrencyKey === null ||
    (await tx.takeKey({ scope: chartKeyScope(chartId), key: concurrencyKey }, id, row.createdAt));
  return mine
    ? firstTurn(machine, begun, row, input, now, writes)
    : queued(machine, begun, row, input, now, writes);
}

function firstTurn(
  machine: Machine,
  { actor, cause, dedupeKey }: Beginning,
  row: InstanceRow,
  input: StartInput,
  now: number,
  writes: StepWrites,
): Turn {
  const turn = new Turn(machine, row, null, now, writes, [], false);
  const entry = { kind: "start", type: startType, input: JSON.stringify(input), messageId: null };
  const options = { at: row.at, seq: row.seq + 1, trace: true };
  turn.record({ ...entry, actor, cause, dedupeKey }, applyStart(machine, input, options));
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
  { actor, cause, dedupeKey }: Beginning,
  row: InstanceRow,
  input: StartInput,
  now: number,
  writes: StepWrites,
): Turn {
  const { id, name } = input;
  const snapshot: Snapshot = { ...unstarted, session: { id, input: input.input, name } };
  const waiting: InstanceRow = {
    ...row,
    status: "queued",
    snapshot: JSON.stringify(snapshot),
    stateHash: snapshotHash(snapshot),
  };
  writes.created.push(waiting);
  writes.enqueued.push({
    instanceId: id,
    incarnation: row.incarnation,
    messageId: newMessageId(),
    type: startType,
    input: JSON.stringify(input),
    actor,
    cause,
    enqueuedAt: now,
    dedupeScope: null,
    dedupeKey,
    expectedSeq: null,
    fences: null,
  });
  return new Turn(machine, waiting, snapshot, now, writes, [], false);
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
