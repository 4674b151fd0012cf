/**
 * Gives concurrency keys of instances that came free to who has waited longest: a new one begins, a redriven one goes on.
 *
 * Holds: I9 the key passes in the transaction of the step that it allows; a crash leaves it free, and it is passed later.
 */
import { systemActor } from "@/lib/access/actor";
import { LockstepError } from "@/lib/base/errors";
import type { KeyName } from "@/lib/store/concurrency";
import { redriveQueued } from "../control/redrive-instance";
import { isGone } from "../refusals";
import type { RuntimeContext } from "../runtime-context";
import { inTurn, type HeldTurn } from "../stepping/in-turn";

const keysMax = 100;

/** True when there may be more. */
export async function beginQueued(
  context: RuntimeContext,
  report: (error: unknown) => void,
): Promise<boolean> {
  const { store } = context;
  const free = await store.findFreeKeys("chart", keysMax);
  for (const key of free) {
    try {
      const instanceId = await store.firstInLine(key);
      if (instanceId === null) await store.transaction((tx) => tx.dropKey(key));
      else await begin(context, instanceId, key);
    } catch (error) {
      if (!isGone(error) && !wasOvertaken(error)) report(error);
    }
  }
  return free.length > 0;
}

/** It was redriven, cancelled or begun by another meanwhile. */
const wasOvertaken = (error: unknown): boolean =>
  error instanceof LockstepError && (error.code === "wrong-status" || error.code === "sequence-conflict");

async function begin(context: RuntimeContext, instanceId: string, key: KeyName): Promise<void> {
  const work = async ({ tx, row, turn, now }: HeldTurn) => {
    const isNew = turn.isNew;
    if (isNew && row.status === "queued" && (await tx.passKey(key, instanceId, now)))
      turn.row = { ...turn.row, status: "running" };
    return () => ({ replayed: false, isNew });
  };
  const { isNew } = await inTurn(context, {
    verb: "begin",
    actor: systemActor,
    args: { instanceId },
    work,
  });
  if (!isNew) await redriveQueued(context, instanceId, key);
}
