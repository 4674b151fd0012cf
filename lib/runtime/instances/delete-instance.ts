/**
 * An instance's end by hand: one entry, a tombstone.
 *
 * Holds: I4 with an idempotency key (scope: caller and id, whichever life) a repeat gets the first answer: it never deletes
 *        the instance that has got the id since.
 *        I3 a step in flight lands before it or is refused, never after: the row lock orders them, and incarnation and
 *        fence have moved. The log stays; a re-created id continues seq after the tombstone.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { InstanceRow, LogRow } from "@/lib/store/instances";
import { answerParents } from "../tasks/answer-parents";
import { configurationOf, isEnded, parentOf, parseSnapshot, type Fence } from "./instance-views";
import { fencedTransaction, type FenceCheck } from "../locks/fenced";
import { senderLockOf } from "../locks/sender-lock";
import { releaseStateLocks } from "../locks/state-locks";
import { noWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import { digestOf, keptAnswer } from "../kept-answer";
import { newAuditId } from "../new-id";
import { openLockBook, deleteLock } from "../locks/lock-rules";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { requireText } from "../require-payload";
import { instanceBusy, instanceNotFound, sequenceConflict } from "../refusals";
import type { Guarded } from "../stepping/in-turn";
import { holdTasks } from "../stepping/step-batch";

export interface DeleteResult {
  id: string;
  /** Of its last entry. */
  seq: number;
  replayed: boolean;
}

export interface DeleteInstanceArgs extends Guarded {
  /** Kept in the audit. */
  reason?: string | undefined;
}

/** Throws `not-found`, `sequence-conflict`, `stale-fence`, `idempotency-key-reuse`. */
export async function deleteInstance(
  context: RuntimeContext,
  actor: Actor,
  { idempotencyKey, ...args }: DeleteInstanceArgs,
): Promise<DeleteResult> {
  const { instanceId, expectedSeq, fences, reason } = args;
  requirePermission(actor, "instances:control");
  requireOpen(context);
  if (reason !== undefined) requireText(reason, "reason");
  const scope = `delete:${instanceId}:${actor.id}`;
  const digest = digestOf(args);
  if (idempotencyKey !== undefined) requireText(idempotencyKey, "Idempotency-Key");
  const run = () => fencedTransaction(context.store, actor, deleteIn);
  return context.turnstile.pass(instanceId, () => instanceBusy(instanceId), run);

  async function deleteIn(tx: StoreTransaction, check: FenceCheck): Promise<DeleteResult> {
    const [row] = await tx.lockInstances([instanceId]);
    const [stored] =
      idempotencyKey === undefined ? [] : await tx.findAnswers([{ scope, key: idempotencyKey }]);
    const kept = keptAnswer<DeleteResult>(stored, digest);
    if (kept) return { ...kept, replayed: true };
    if (!row || row.deletedAt !== null) throw instanceNotFound(instanceId);
    if (expectedSeq !== undefined && expectedSeq !== row.seq) throw sequenceConflict({ expectedSeq }, row);
    await holdTasks(tx, [row]);
    const key = senderLockOf(instanceId);
    await holdInOrder(tx, row, key, fences ?? []);
    await check(tx, fences, { instanceId, type: "delete" });
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
    const answer: DeleteResult = { id: instanceId, seq, replayed: false };
    if (idempotencyKey !== undefined) {
      const result = JSON.stringify(answer);
      writes.dedupe.push({ scope, key: idempotencyKey, digest, messageId: null, result, at: now });
    }
    const parent = parentOf(row);
    if (parent && !isEnded(row.status)) {
      const gone = { ...row, status: "terminated" };
      await answerParents(tx, [{ parent, row: gone, output: null }], writes, now);
    }
    await releaseStateLocks(tx, new Map([[instanceId, null]]), now);
    // The instance's own lock, where one was ever used: whoever holds it writes no more.
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
      details: JSON.stringify({ seq, reason }),
    });
    return answer;
  }
}

/** The locks that end with it, and those whose fences were shown: in one pass, in the order of keys. */
async function holdInOrder(
  tx: StoreTransaction,
  { id }: Pick<InstanceRow, "id">,
  own: string,
  fences: readonly Fence[],
): Promise<void> {
  const ending = new Set([own, ...(await tx.stateLocksOf([id])).map(({ key }) => key)]);
  const shown = fences.map(({ key }) => key);
  for (const key of [...new Set([...ending, ...shown])].sort()) {
    if (ending.has(key)) await tx.lockLockIfAny(key);
    else await tx.shareLocks([key]);
  }
}
