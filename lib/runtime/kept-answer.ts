/**
 * I4: what tells one call with an idempotency key from another, and what a repeat is answered.
 */
import { hashJson } from "@/lib/base/canonical";
import type { Json } from "@/lib/base/json";
import type { DedupeRow } from "@/lib/store/instances";
import { keyReuse } from "./refusals";

/** Of all that the call was given but its key; what is undefined was not given. */
export const digestOf = (args: object): string => hashJson(JSON.parse(JSON.stringify(args)) as Json);

/** The call was made, and its message has had no turn yet, or was refused. */
export class Unfinished extends Error {
  override name = "Unfinished";
  constructor(readonly messageId: string) {
    super(`message ${messageId} is not applied`);
  }
}

/** The first answer; null when the call was not made before. Throws `idempotency-key-reuse`, and Unfinished. */
export function keptAnswer<T>(
  stored: Pick<DedupeRow, "key" | "digest" | "result" | "messageId"> | null | undefined,
  digest: string,
): T | null {
  if (!stored) return null;
  if (stored.digest !== digest) throw keyReuse(stored.key);
  if (stored.result === null) throw new Unfinished(stored.messageId ?? "");
  return JSON.parse(stored.result) as T;
}
