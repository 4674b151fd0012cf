/**
 * An instance's end by hand: one entry, a tombstone.
 *
 * Holds: I3 a step in flight lands before it or is refused, never after: the row lock orders them, and incarnation and
 *        fence have moved. The log stays; a re-created id continues seq after the tombstone.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { LogRow } from "@/lib/store/instances";
import { answerParents } from "../tasks/answer-parents";
import { configurationOf, isEnded, parentOf, parseSnapshot } from "./instance-views";
import { releaseStateLocks } from "../locks/state-locks";
import { noWrites } from "@/lib/store/steps";
import { newAuditId } from "../new-id";
import { openLockBook, deleteLock } from "../locks/lock-rules";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { instanceNotFound } from "../refusals";

export async function deleteInstance(
  context: RuntimeContext,
  actor: Actor,
  { instanceId }: { instanceId: string },
): Promise<{ id: string; seq: number }> {
  requirePermission(actor, "instances:control");
  requireOpen(context);
  return context.store.transaction(async (tx) => {
    const [row] = await tx.lockInstances([instanceId]);
    if (!row || row.deletedAt !== null) throw instanceNotFound(instanceId);
    const now = await tx.now();
    const at = Math.max(now, row.at);
    const seq = row.seq + 1;
    const entry: LogRow = {
      instanceId,
      seq,
      incarnation: row.incarnation,
      kind: "deleted",
      type: "deleted",
      // One that never began has no entry to be replayed from.
      input: row.status === "queued" ? JSON.stringify({ snapshot: parseSnapshot(row.snapshot) }) : "{}",
      at,
      actor: actor.id,
      cause: null,
      messageId: null,
      dedupeKey: null,
      outcome: "handled",
      reason: null,
      status: "terminated",
      chartId: row.chartId,
      version: row.version,
      semantics: row.semantics,
      exited: "[]",
      entered: "[]",
      patch: "[]",
      stateHash: row.stateHash,
      trace: "[]",
      logs: "[]",
      errorCode: null,
      errorMessage: null,
    };
    const writes = noWrites();
    const parent = parentOf(row);
    if (parent && !isEnded(row.status)) {
      const gone = { ...row, status: "terminated" };
      await answerParents(tx, [{ parent, row: gone, output: null }], writes, now);
    }
    await releaseStateLocks(tx, new Map([[instanceId, null]]), now);
    // The instance's own lock, where one was ever used: whoever holds it writes no more.
    const key = `instance:${instanceId}`;
    const lock = await tx.lockLockIfAny(key);
    const queue = lock ? await tx.readWaiters(key) : [];
    await tx.writeSteps({
      ...writes,
      changed: [
        {
          ...row,
          incarnation: row.incarnation + 1,
          status: "terminated",
          seq,
          at,
          lastEvent: "deleted",
          updatedAt: at,
          endedAt: row.endedAt ?? at,
          deletedAt: at,
          session: null,
        },
      ],
      configurations: [{ instanceId, left: configurationOf(row), entered: [] }],
      log: [entry],
      emptied: [instanceId],
    });
    await tx.addDoomed([{ instanceId, upToSeq: seq, deletedAt: at, atOnce: 0 }]);
    if (lock) {
      const book = openLockBook(lock, queue, now, actor.id);
      deleteLock(book, `instance ${instanceId} was deleted`);
      await tx.writeLock({ ...book.writes(), answer: null });
    }
    await tx.writeAudit({
      id: newAuditId(),
      at: now,
      actor: actor.id,
      action: "delete-instance",
      target: `instance:${instanceId}`,
      outcome: "done",
      details: JSON.stringify({ seq }),
    });
    return { id: instanceId, seq };
  });
}
