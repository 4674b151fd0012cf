/**
 * A message put into a mailbox without stepping anything: for a caller who won't wait while others hold the instance.
 *
 * Holds: I4 the key is claimed with the message, in one transaction. The instance's row is read, not locked: one that ends or
 *        is deleted meanwhile buries the message, and asking for it says so.
 */
import { noWrites } from "@/lib/store/steps";
import { isEnded, type SendResult } from "../instances/instance-views";
import type { RuntimeContext } from "../runtime-context";
import { instanceEnded, instanceNotFound } from "../refusals";
import { joined, replayOf, sendScope, type Send, type SendOutcome } from "./step-batch";

/** `scopeOf`: within which its idempotency key names one call. */
export async function enqueueEvent(
  context: RuntimeContext,
  send: Send,
  scopeOf = sendScope,
): Promise<SendOutcome> {
  const { instanceId, messageId, dedupeKey, actor } = send.message;
  const row = await context.store.findInstance(instanceId);
  if (!row || row.deletedAt !== null) return { kind: "refused", error: instanceNotFound(instanceId) };
  const dedupeScope = dedupeKey === null ? null : scopeOf(row, actor);
  if (isEnded(row.status)) {
    const [kept] =
      dedupeScope === null || dedupeKey === null
        ? []
        : await context.store.transaction((tx) => tx.findAnswers([{ scope: dedupeScope, key: dedupeKey }]));
    return kept ? replayOf(kept, send.digest) : { kind: "refused", error: instanceEnded(row) };
  }
  const earlier = await context.store.transaction(async (tx) => {
    const now = await tx.now();
    if (dedupeScope !== null && dedupeKey !== null) {
      const claim = {
        scope: dedupeScope,
        key: dedupeKey,
        digest: send.digest ?? "",
        messageId,
        result: null,
        at: now,
      };
      const found = await tx.claimAnswer(claim);
      if (found) return found;
    }
    await tx.writeSteps({ ...noWrites(), enqueued: [{ ...joined(send.message, row, now), dedupeScope }] });
    return null;
  });
  if (earlier) return replayOf(earlier, send.digest);
  context.wake();
  const result: SendResult = {
    messageId,
    instanceId,
    state: "queued",
    seq: null,
    outcome: null,
    reason: null,
    status: row.status as SendResult["status"],
    configuration: JSON.parse(row.configuration) as string[],
    pending: await context.store.countMailbox(instanceId),
    replayed: false,
  };
  return { kind: "queued", result };
}
