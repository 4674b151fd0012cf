/**
 * A command on a lock, or on several, as one transaction: rows held, time read, lease and queue settled, rule applied, everything
 * written.
 *
 * Holds: I4 with an idempotency key (scope: caller, verb and the first lock's key) the first answer is stored in the same
 *        transaction and a repeat gets it; refusals and `busy` are not stored. What settling did is kept also when the command is refused.
 *        Only who asks for a lock makes its row: any other command on a key that nobody has ever asked for writes nothing.
 */
import type { Actor } from "@/lib/access/actor";
import { LockstepError } from "@/lib/base/errors";
import type { JsonObject } from "@/lib/base/json";
import type { LockCommandRow } from "@/lib/store/locks";
import type { StoreTransaction } from "@/lib/store/store";
import { foldLockLog, openLockBook, type LockBooks } from "./lock-rules";
import { holdLockBookIfAny, holdLockBooks, writeLockBook } from "./state-locks";
import { digestOf } from "../kept-answer";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { keyReuse } from "../refusals";

/** What a rule comes to: an answer to keep, one to give without keeping, or a refusal. */
export type LockOutcome<T> =
  { kind: "kept"; result: T } | { kind: "given"; result: T } | { kind: "refused"; error: LockstepError };

export interface LockCommand<T> {
  /** Sorted, none twice. Several: only of a command that asks for them. */
  keys: readonly [string, ...string[]];
  verb: string;
  /** Whose digest tells one call from another. */
  args: JsonObject;
  idempotencyKey: string | undefined;
  /** It asks for the lock: a key that nobody has asked for gets a row. */
  asks?: boolean;
  /** Also run while the breaker is open. */
  isRenewal?: boolean;
  /** Also run while the runtime closes: the end of something begun before. */
  ending?: boolean;
  rule(books: LockBooks, tx: StoreTransaction): LockOutcome<T> | Promise<LockOutcome<T>>;
  /** The stored answer as a repeat sees it now. */
  replay(result: T, books: LockBooks): T;
}

/** Throws the rule's refusal, or `idempotency-key-reuse`. */
export async function runLockCommand<T>(
  context: RuntimeContext,
  actor: Actor,
  command: LockCommand<T>,
): Promise<T> {
  if (!command.ending) requireOpen(context);
  const [key] = command.keys;
  const idem =
    command.idempotencyKey === undefined ? null : requireText(command.idempotencyKey, "Idempotency-Key");
  const scope = `${command.verb}:${actor.id}`;
  const digest = digestOf(command.args);
  let isFree = false;
  const run = async (tx: StoreTransaction): Promise<LockOutcome<T>> => {
    const held = command.asks
      ? await holdLockBooks(tx, command.keys, actor.id)
      : await holdLockBookIfAny(tx, key, actor.id);
    const [first = openLockBook(foldLockLog(key, []), [], await tx.now(), actor.id), ...more] = held;
    const books: LockBooks = [first, ...more];
    const write = async (answer: LockCommandRow | null) => {
      for (const book of held) await writeLockBook(tx, book, book === first ? answer : null);
    };
    const stored = idem === null ? null : await tx.findLockCommand(key, scope, idem);
    if (stored) {
      await write(null);
      if (stored.digest !== digest) return { kind: "refused", error: keyReuse(stored.idem) };
      return { kind: "given", result: command.replay(JSON.parse(stored.result) as T, books) };
    }
    const done = await command.rule(books, tx);
    await write(
      idem === null || done.kind !== "kept"
        ? null
        : { key, scope, idem, digest, result: JSON.stringify(done.result), at: first.now },
    );
    isFree = books.some((book) => !book.isHeld() && book.queue.length > 0);
    return done;
  };
  const through = command.isRenewal ? "throughAnyway" : "through";
  const outcome = await context.lockBreaker[through](() =>
    context.turnstile.pass(
      `lock ${key}`,
      () => rowBusy(key),
      () => context.store.transaction(run),
    ),
  );
  // A state is next.
  if (isFree) context.settle();
  if (outcome.kind === "refused") throw outcome.error;
  return outcome.result;
}

const rowBusy = (key: string): LockstepError =>
  new LockstepError(
    "database-busy",
    `Nothing was done: other calls have kept the row of the lock ${key} to themselves. Repeat the call.`,
    { retry: "later", details: { key } },
  );
