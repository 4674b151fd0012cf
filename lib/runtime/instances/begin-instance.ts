/**
 * The first turn of an instance, whoever starts it: its row, its first entry, and what it sent itself.
 *
 * Holds: a deleted id's seq goes on behind its tombstone.
 */
import type { Json } from "@/lib/base/json";
import type { Machine } from "@/lib/statechart/machine";
import type { ParentRef } from "@/lib/store/children";
import type { InstanceRow } from "@/lib/store/instances";
import type { StepWrites } from "@/lib/store/steps";
import { applyStart, type StartInput } from "../stepping/apply-input";
import { engineSemantics } from "../limits";
import { partitionOf } from "../new-id";
import { Turn } from "../stepping/turn";

export interface Beginning {
  id: string;
  chartId: string;
  version: number;
  input: Json;
  priority: number;
  businessKey: string | null;
  /** The invocation that it is. */
  parent: ParentRef | null;
  actor: string;
  cause: string | null;
  dedupeKey: string | null;
}

/** `tombstone`: the deleted instance of that id, held. */
export function beginInstance(
  machine: Machine,
  begun: Beginning,
  now: number,
  tombstone: InstanceRow | undefined,
  writes: StepWrites,
): Turn {
  const { id, chartId, actor, cause, dedupeKey } = begun;
  const row = freshRow(begun, now, tombstone);
  const turn = new Turn(machine, row, null, now, writes, [], false);
  const input: StartInput = { kind: "start", id, name: chartId, input: begun.input };
  const entry = { kind: "start", type: "start", input: JSON.stringify(input), messageId: null };
  const options = { at: row.at, seq: row.seq + 1, trace: true };
  turn.record({ ...entry, actor, cause, dedupeKey }, applyStart(machine, input, options));
  turn.run(
    () => null,
    () => false,
  );
  turn.finish();
  return turn;
}

function freshRow(
  { id, chartId, version, priority, businessKey, parent }: Beginning,
  now: number,
  tombstone: InstanceRow | undefined,
): InstanceRow {
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
    businessKey,
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
