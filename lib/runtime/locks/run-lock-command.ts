/**
 * A command on a lock as one transaction: row held, time read, lease and queue settled, rule applied, everything written.
 *
 * Holds: I4 with an idempotency key (scope: caller and verb) the first answer is stored in the same transaction and a
 *        repeat gets it; refusals and `busy` are not stored. What settling did is kept also when the command is refused.
 *        Only who asks for a lock makes its row: any other command on a key that nobody has ever asked for writes nothing.
 */
import type { Actor } from "@/lib/access/actor";
import { hashJson } from "@/lib/base/canonical";
import type { LockstepError } from "@/lib/base/errors";
import type { Json, JsonObject } from "@/lib/base/json";
import type { StoreTransaction } from "@/lib/store/store";
import { foldLockLog, openLockBook, settle, type LockBook } from "./lock-rules";
import { writeLockBook } from "./state-locks";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { keyReuse } from "../refusals";

/** What a rule comes to: an answer to keep, one to give without keeping, or a refusal. */
export type LockOutcome<T> =
  { kind: "kept"; result: T } | { kind: "given"; result: T } | { kind: "refused"; error: LockstepError };

export interface LockCommand<T> {
  key: string;
  verb: string;
  /** Whose digest tells one call from another. */
  args: JsonObject;
  idempotencyKey: string | undefined;
  /** It asks for the lock: a key that nobody has asked for gets a row. */
  asks?: boolean;
  /** Also run while the runtime closes: the end of something begun before. */
  ending?: boolean;
  rule(book: LockBook, tx: StoreTransaction): LockOutcome<T> | Promise<LockOutcome<T>>;
  /** The stored answer as a repeat sees it now. */
  replay(result: T, book: LockBook): T;
}

/** Throws the rule's refusal, or `idempotency-key-reuse`. */
export async function runLockCommand<T>(
  context: RuntimeContext,
  actor: Actor,
  command: LockCommand<T>,
): Promise<T> {
  if (!command.ending) requireOpen(context);
  const { key } = command;
  const idem =
    command.idempotencyKey === undefined ? null : requireText(command.idempotencyKey, "Idempotency-Key");
  const scope = `${command.verb}:${actor.id}`;
  const digest = hashJson(JSON.parse(JSON.stringify(command.args)) as Json);
  let isFree = false;
  const outcome = await context.store.transaction(async (tx): Promise<LockOutcome<T>> => {
    const row = command.asks ? await tx.lockLock(key) : await tx.lockLockIfAny(key);
    const now = await tx.now();
    const queue = row ? await tx.readWaiters(key) : [];
    const book = openLockBook(row ?? foldLockLog(key, []), queue, now, actor.id);
    settle(book);
    const stored = idem === null ? null : await tx.findLockCommand(key, scope, idem);
    if (stored) {
      if (row) await writeLockBook(tx, book, null);
      if (stored.digest !== digest) return { kind: "refused", error: keyReuse(stored.idem) };
      return { kind: "given", result: command.replay(JSON.parse(stored.result) as T, book) };
    }
    const done = await command.rule(book, tx);
    const answer =
      idem === null || done.kind !== "kept"
        ? null
        : { key, scope, idem, digest, result: JSON.stringify(done.result), at: now };
    if (row) await writeLockBook(tx, book, answer);
    isFree = !book.isHeld() && book.queue.length > 0;
    return done;
  });
  // A state is next.
  if (isFree) context.settle();
  if (outcome.kind === "refused") throw outcome.error;
  return outcome.result;
}
