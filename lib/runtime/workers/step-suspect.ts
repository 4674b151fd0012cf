/**
 * Steps an instance at which a worker was lost: alone, one message or timer in a transaction, noted by name. What three
 * workers were lost at is not tried again: a message becomes a dead letter, for a timer the instance is suspended.
 *
 * Holds: I1 what is set aside takes no seq and was never applied. I5 replay never meets it.
 */
import { systemActor } from "@/lib/access/actor";
import { noWrites } from "@/lib/store/steps";
import type { SuspectRow } from "@/lib/store/workers";
import type { Caution } from "../operations/caution";
import { parseSnapshot, takesMessages } from "../instances/instance-views";
import { deathsMax } from "../limits";
import { withMachines } from "../charts/machines";
import type { RuntimeContext } from "../runtime-context";
import { stepBatch, type BatchResult } from "../stepping/step-batch";
import { suspendInstance } from "../control/suspend-instance";
import { deadLetterOf, dueTimerOf } from "../stepping/turn";

/** Null: nothing was stepped. */
export async function stepSuspect(
  context: RuntimeContext,
  caution: Caution,
  suspect: SuspectRow,
): Promise<BatchResult | null> {
  const { store, machines } = context;
  const { instanceId } = suspect;
  const next = await lookAt(context, suspect);
  if (next === null) return null;
  if (next.over && next.timer !== null) {
    const reason = `${deathsMax} workers ended while they fired its timer ${next.timer}`;
    await suspendInstance(context, systemActor, { instanceId, reason });
    await store.transaction((tx) => tx.removeSuspect(instanceId));
  }
  if (next.over) return null;
  await caution.note([[instanceId, next.item]]);
  return withMachines(machines, () =>
    store.transaction(async (tx) => {
      const result = await stepBatch(machines, tx, [], [instanceId], { stepsMax: 1 });
      // It was skipped: another has it.
      if (result.stepped === 0 && result.settled.size === 0) return result;
      const [waits] = await tx.readMailboxes([instanceId], 1);
      if (waits) await tx.putSuspects([{ ...suspect, item: "", deaths: 1 }]);
      else await tx.removeSuspect(instanceId);
      return result;
    }),
  );
}

interface Next {
  /** As in SteppingItem. */
  item: string;
  timer: string | null;
  /** Not to be tried again. */
  over: boolean;
}

/** What would be stepped next, by the rule of turn.ts; a message that is not to be tried again is set aside. */
function lookAt({ store }: RuntimeContext, suspect: SuspectRow): Promise<Next | null> {
  const { instanceId } = suspect;
  return store.transaction(async (tx) => {
    const [[row], { now, messages }] = await Promise.all([
      tx.lockInstances([instanceId], { skipBusy: true }),
      tx.readWaiting([instanceId], 1),
    ]);
    const [head] = messages;
    if (!row) return null;
    const due = dueTimerOf(parseSnapshot(row.snapshot), now);
    const timer = due && (!head || due.timer.dueAt <= head.enqueuedAt) ? due.id : null;
    const item = timer === null ? (head?.messageId ?? "") : `timer:${timer}`;
    // One that stands still is put away by its turn.
    const steps = takesMessages(row.status);
    const over = steps && item !== "" && item === suspect.item && suspect.deaths >= deathsMax;
    if (over && head && timer === null) {
      const letter = deadLetterOf(head, Math.max(now, row.at), "killed-process");
      await tx.writeSteps({ ...noWrites(), consumed: [head], deadLetters: [letter] });
      await tx.putSuspects([{ ...suspect, item: "", deaths: 1 }]);
    }
    return { item, timer, over };
  });
}
