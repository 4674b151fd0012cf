/**
 * A write under an idempotency key: the caller's (`--idempotency-key`), or a fresh one.
 *
 * Holds: when it is not known whether the write took effect, the key is told, for the same command with it is safe.
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
    if (!(error instanceof LockstepError) || error.code !== "outcome-unknown") throw error;
    throw new LockstepError(error.code, `${error.message} The key: --idempotency-key ${idempotencyKey}.`, {
      retry: error.retry,
      details: error.details,
      cause: error,
    });
  }
}
