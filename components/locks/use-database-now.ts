"use client";
/**
 * The database's clock as this tab knows it: the moment an answer was read there, plus what has passed here since.
 *
 * Holds: leases are counted on it, so that a browser whose clock is wrong shows the same seconds as everybody's.
 */
import { useNow } from "@/components/ui/use-now";

/** `answer.now` as sent, `receivedAt` on the browser's clock. null before the first answer. */
export function useDatabaseNow(answer: { now: number } | undefined, receivedAt: number): number | null {
  const here = useNow();
  if (!answer) return null;
  return answer.now + Math.max(0, here - receivedAt);
}
