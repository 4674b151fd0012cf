/**
 * I4: what tells one call with an idempotency key from another, and what a repeat is answered.
 */
import { must } from "@/lib/base/assert";
import { hashJson } from "@/lib/base/canonical";
import type { Json } from "@/lib/base/json";
import type { DedupeRow } from "@/lib/store/instances";
import { keyReuse } from "./refusals";

/** Of all that the call was given but its key; what is undefined was not given. */
export const digestOf = (args: object): string => hashJson(JSON.parse(JSON.stringify(args)) as Json);

/** The first answer; null when the call was not made before. Throws `idempotency-key-reuse`. */
export function keptAnswer<T>(
  stored: Pick<DedupeRow, "key" | "digest" | "result"> | null | undefined,
  digest: string,
): T | null {
  if (!stored) return null;
  if (stored.digest !== digest) throw keyReuse(stored.key);
  return JSON.parse(must(stored.result, "an answer is stored with its call")) as T;
}
