/**
 * Gives concurrency keys of instances that came free to who has waited longest: a new one begins, a redriven one goes on.
 *
 * Holds: I9 the key passes in the transaction of the step that it allows; a crash leaves it free, and it is passed later.
 *        Lock order: the instance, its parent's task, the key.
 */
import { systemActor } from "@/lib/access/actor";
import { assert } from "@/lib/base/assert";
import type { KeyName } from "@/lib/store/concurrency";
import { isGone } from "../refusals";
import type { RuntimeContext } from "../runtime-context";
import type { Then } from "../stepping/in-line";
import { inTurn, type HeldTurn } from "../stepping/in-turn";
import { holdTasks } from "../stepping/step-batch";

const keysMax = 100;

/** True when there may be more. */
export async function beginQueued(
  context: RuntimeContext,
  report: (error: unknown) => void,
): Promise<boolean> {
  const { store } = context;
  const free = await store.findFreeKeys("chart", keysMax);
  let done = 0;
  for (const key of free) {
    try {
      const instanceId = await store.firstInLine(key);
      if (instanceId === null) await store.transaction((tx) => tx.dropKey(key));
      else await begin(context, instanceId, key);
      done += 1;
    } catch (error) {
      if (!isGone(error)) report(error);
    }
  }
  return done === keysMax;
}

async function begin(context: RuntimeContext, instanceId: string, key: KeyName): Promise<void> {
  const work = async (held: HeldTurn) => {
    await holdTasks(held.tx, [held.row]);
    const then = await held.tx.passKey(key, instanceId, held.now);
    if (then !== null) goOn(held, JSON.parse(then) as Then);
    return () => ({ replayed: false });
  };
  await inTurn(context, { verb: "begin", actor: systemActor, args: { instanceId }, work });
}

function goOn({ turn, row }: HeldTurn, then: Then): void {
  assert(row.status === "queued", `${row.id} stands in line, and is ${row.status}`);
  if (then.kind === "start") return turn.begin(then.start);
  turn.control(then.input, { actor: then.actor });
  if (then.first) turn.addFirst(then.first);
}
