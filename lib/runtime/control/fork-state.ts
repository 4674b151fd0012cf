/** The state of an instance at a seq, made ready to go on from by another life: no task, no lock, timers by choice. */
import { LockstepError } from "@/lib/base/errors";
import type { Snapshot } from "@/lib/statechart/snapshot";
import type { LogInput } from "@/lib/store/instances";
import { entryNotFound } from "../instances/get-log-entry";
import { rebuildState } from "../instances/rebuild-state";
import type { RuntimeContext } from "../runtime-context";

export interface ForkState {
  /** `incarnation`: of the life that it was in then; an id that was deleted and used again has had several. */
  entry: Pick<LogInput, "seq" | "incarnation" | "chartId" | "version" | "at"> & {
    generations: Snapshot["generations"];
  };
  /** `rearmTimers`: they get, from `now` on, the time they had left. */
  snapshot: (rearmTimers: boolean, now: number) => Snapshot;
}

/** Throws `not-found`, `bad-request` when it had ended or failed there. */
export async function forkState(
  { store, machines }: RuntimeContext,
  instanceId: string,
  seq: number,
): Promise<ForkState> {
  const rebuilt = await rebuildState(store, machines, instanceId, seq);
  if (!rebuilt) throw await entryNotFound(store, instanceId, seq);
  const { snapshot, entry, rebuiltHash } = rebuilt;
  if (rebuiltHash !== entry.stateHash) {
    throw new LockstepError(
      "internal",
      `The state of ${instanceId} at seq ${seq} can't be rebuilt as it was stored (hashes differ): nothing may go on from it.`,
    );
  }
  if (snapshot.status !== "running") {
    throw new LockstepError(
      "bad-request",
      `At seq ${seq} instance ${instanceId} had ${snapshot.status === "failed" ? "failed" : "ended"}: nothing goes on from there. Take an earlier seq.`,
      { details: { field: "seq", status: snapshot.status } },
    );
  }
  const { incarnation, chartId, version, at } = entry;
  return {
    entry: { seq, incarnation, chartId, version, at, generations: snapshot.generations },
    snapshot(rearmTimers, now) {
      const timers = Object.entries(rearmTimers ? snapshot.timers : {}).map(
        ([id, timer]) => [id, { ...timer, dueAt: now + Math.max(0, timer.dueAt - at) }] as const,
      );
      return { ...snapshot, invocations: {}, timers: Object.fromEntries(timers) };
    },
  };
}
