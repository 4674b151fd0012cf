/**
 * An instance put back to the state it had at an earlier seq: a fork that replaces. Its history stays; it goes on from there.
 *
 * Holds: I6 entry generations go on from the highest ever given, so that timers and answers of what is abandoned never move
 *        it. No task is sent again and no lock is taken again: what ran is cancelled.
 */
import type { Actor } from "@/lib/access/actor";
import { LockstepError } from "@/lib/base/errors";
import { chartKeyScope } from "@/lib/store/concurrency";
import type { InstanceRow } from "@/lib/store/instances";
import type { StoreTransaction } from "@/lib/store/store";
import { timersOfEntries, type Snapshot } from "@/lib/statechart/snapshot";
import type { ControlInput } from "./apply-control";
import { controlInstance, type ControlArgs, type ControlResult } from "./control-instance";
import { requirePermission } from "@/lib/access/require-permission";
import { forkState } from "./fork-state";
import type { RuntimeContext } from "../runtime-context";
import { holdTasks } from "../stepping/step-batch";
import { taskIdOf } from "../tasks/task-rules";

export interface ResetInstanceArgs extends ControlArgs {
  seq: number;
  /** Arm the timers of that moment again, with the time they had left; default: none is. */
  rearmTimers?: boolean | undefined;
}

/** Throws as the other control verbs; `not-found` for a seq that isn't there; `bad-request` across a migration or a deletion. */
export async function resetInstance(
  context: RuntimeContext,
  actor: Actor,
  args: ResetInstanceArgs,
): Promise<ControlResult> {
  requirePermission(actor, "instances:control");
  const { snapshot, entry } = await forkState(context, args.instanceId, args.seq);
  return controlInstance(context, actor, args, {
    verb: "reset",
    from: ["running", "suspended", "cancelling", "failed", "stuck"],
    done: [],
    async inputOf(input, { tx, turn, row, now }): Promise<ControlInput> {
      if (entry.incarnation !== row.incarnation) throw ofEarlierLife(row, entry);
      if (entry.version !== row.version) throw acrossMigration(row, entry);
      await requireKey(tx, row, now);
      const then = snapshot(args.rearmTimers ?? false, now);
      const generations = highest(turn.snapshot.generations, entry.generations);
      const timers = timersOfEntries(Object.entries(then.timers), generations);
      return {
        ...input,
        verb: "reset",
        data: { ...input.data, to: args.seq },
        snapshot: { ...then, generations, timers },
      };
    },
    afterEntry: ({ writes, row: { id: instanceId }, now, before }) => {
      for (const [id, { generation }] of Object.entries(before.invocations)) {
        writes.tasksCancelled.push({ instanceId, taskId: taskIdOf(generation, id), at: now });
      }
    },
  });
}

/** A failed one has given it up. */
async function requireKey(tx: StoreTransaction, row: InstanceRow, now: number): Promise<void> {
  const { id, chartId, concurrencyKey: key, status } = row;
  if (key === null || status !== "failed") return;
  await holdTasks(tx, [row]);
  // One that can't have it is not left in line: the refusal takes that back.
  if (await tx.takeKey({ scope: chartKeyScope(chartId), key }, id, now, "")) return;
  throw new LockstepError(
    "wrong-status",
    `Instance ${id} has failed, and another of ${chartId} has its concurrency key ${key}: reset it when that has ended.`,
    { details: { instanceId: id, status, concurrencyKey: key } },
  );
}

function highest(...all: Snapshot["generations"][]): Snapshot["generations"] {
  const result: Snapshot["generations"] = {};
  for (const [state, generation] of all.flatMap((each) => Object.entries(each))) {
    result[state] = Math.max(result[state] ?? 0, generation);
  }
  return result;
}

const ofEarlierLife = (row: InstanceRow, then: { seq: number }): LockstepError =>
  new LockstepError(
    "bad-request",
    `At seq ${then.seq} instance ${row.id} was another: it was deleted and its id used again. Fork it from there instead.`,
    { details: { field: "seq" } },
  );

const acrossMigration = (row: InstanceRow, then: { seq: number; version: number }): LockstepError =>
  new LockstepError(
    "bad-request",
    `At seq ${then.seq} instance ${row.id} was of version ${then.version}, now it is of ${row.version}. Fork it from there instead.`,
    { details: { field: "seq", version: then.version } },
  );
