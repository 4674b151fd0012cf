/**
 * A verb that goes on to the children of an instance, and theirs. What ends an instance ends its children by itself: its
 * invocations are left (settle-children.ts).
 *
 * Holds: each child is a transaction of its own, after its parent's. A call that breaks off leaves some children as they were:
 *        its repetition, with the same key or another, completes it.
 */
import type { Actor } from "@/lib/access/actor";
import { LockstepError } from "@/lib/base/errors";
import type { ControlArgs, ControlResult } from "./control-instance";
import type { InstanceStatus } from "../instances/instance-views";
import type { RuntimeContext } from "../runtime-context";

const pageMax = 100;

/** Children that are in `status` get `verb` too. Gives back the parent's result. */
export async function alsoChildren(
  context: RuntimeContext,
  actor: Actor,
  { reason }: ControlArgs,
  result: ControlResult,
  [verb, status]: [
    verb: (context: RuntimeContext, actor: Actor, args: ControlArgs) => Promise<ControlResult>,
    status: InstanceStatus,
  ],
): Promise<ControlResult> {
  const filter = { parent: result.instanceId, status };
  for (let after: { createdAt: number; id: string } | null = null; ;) {
    const children: { id: string; createdAt: number }[] = await context.store.listInstances(
      filter,
      after,
      pageMax,
    );
    for (const { id: instanceId } of children) {
      await verb(context, actor, { instanceId, reason }).catch(unlessOver);
    }
    const last = children.at(-1);
    if (!last || children.length < pageMax) return result;
    after = { createdAt: last.createdAt, id: last.id };
  }
}

/** It ended, failed or was deleted since it was listed. */
function unlessOver(error: unknown): void {
  const codes: string[] = ["instance-ended", "wrong-status", "not-found"];
  if (!(error instanceof LockstepError) || !codes.includes(error.code)) throw error;
}
