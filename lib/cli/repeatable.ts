/**
 * A write under an idempotency key: the caller's (`--idempotency-key`), or a fresh one.
 *
 * Holds: when it is not known whether the write took effect, the key is told last, to be copied: the same command with it is safe.
 */
import { LockstepError } from "@/lib/base/errors";

export async function repeatable<Answer>(
  given: string | undefined,
  write: (options: { idempotencyKey: string }) => Promise<Answer>,
): Promise<Answer> {
  const idempotencyKey = given ?? crypto.randomUUID();
  try {
    return await write({ idempotencyKey });
  } catch (error) {
    if (!(error instanceof LockstepError) || !doubtful.has(error.code)) throw error;
    throw new LockstepError(
      error.code,
      `${error.message} The key: --idempotency-key ${word(idempotencyKey)}`,
      {
        retry: error.retry,
        details: error.details,
        cause: error,
      },
    );
  }
}

/** `internal`: an answer that is not Lockstep's, a gateway's for one, tells nothing either. */
const doubtful: ReadonlySet<string> = new Set(["outcome-unknown", "internal"]);

/** As a shell takes it for one word. */
const word = (text: string): string =>
  /^[\w.:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
