/** State now, at a seq, or at a time: rebuilt by replay and compared with what was stored. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import { snapshotHash } from "@/lib/statechart/snapshot";
import type { InstanceRow, LogInput } from "@/lib/store/instances";
import { entryNotFound } from "./get-log-entry";
import { hasNotBegun, parseSnapshot, viewTimers, type StateAt } from "./instance-views";
import { rebuildState, type RebuiltState } from "./rebuild-state";
import type { RuntimeContext } from "../runtime-context";
import { instanceNotFound } from "../refusals";

/** Throws `not-found`, or `bad-request` when both seq and at are given. */
export async function getState(
  { store, machines }: RuntimeContext,
  actor: Actor,
  args: { instanceId: string; seq?: number | undefined; at?: number | undefined },
): Promise<StateAt> {
  requirePermission(actor, "instances:read");
  if (args.seq !== undefined && args.at !== undefined) {
    throw new LockstepError("bad-request", "Give seq or at, not both.", { details: { field: "at" } });
  }
  const row = await store.findInstance(args.instanceId);
  if (!row) throw instanceNotFound(args.instanceId);
  const isNow = (args.seq ?? row.seq) === row.seq && (args.at ?? row.createdAt) >= row.createdAt;
  if (isNow && hasNotBegun(row)) return stateOf(row);
  const seq = args.at === undefined ? (args.seq ?? row.seq) : await store.seqAt(args.instanceId, args.at);
  if (args.at !== undefined && seq === 0) {
    const why =
      row.createdAt > args.at
        ? "did not exist then"
        : `has its log from seq ${await store.oldestEntry(args.instanceId)} on; the entries up to then were removed by the retention rule event-log`;
    throw new LockstepError(
      "not-found",
      `At ${args.at} nothing is known: instance ${args.instanceId} ${why}.`,
      {
        details: { instanceId: args.instanceId, at: args.at },
      },
    );
  }
  const rebuilt = await rebuildState(store, machines, args.instanceId, seq);
  if (!rebuilt) throw await entryNotFound(store, args.instanceId, seq);
  return viewState(row.id, rebuilt);
}

/** It has no entry yet: as it is stored. */
function stateOf(row: InstanceRow): StateAt {
  const snapshot = parseSnapshot(row.snapshot);
  return viewState(row.id, { snapshot, entry: row, rebuiltHash: snapshotHash(snapshot), fromSnapshot: 0 });
}

function viewState(
  instanceId: string,
  { snapshot, entry, rebuiltHash, fromSnapshot }: Omit<RebuiltState, "entry"> & { entry: EntryFacts },
): StateAt {
  const { seq, at, chartId, version, status, stateHash: storedHash } = entry;
  return {
    instanceId,
    seq,
    at,
    chartId,
    version,
    status,
    configuration: snapshot.configuration,
    context: snapshot.context,
    output: snapshot.output ?? null,
    error: snapshot.error ? { code: snapshot.error.code, message: snapshot.error.message } : null,
    timers: viewTimers(snapshot),
    fromSnapshot,
    storedHash,
    rebuiltHash,
    hashMatches: storedHash === rebuiltHash,
  };
}

type EntryFacts = Pick<LogInput, "seq" | "at" | "chartId" | "version" | "status" | "stateHash">;
