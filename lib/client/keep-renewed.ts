/**
 * A lease kept while work goes on: renewed again and again until the work is over or the lease is lost.
 *
 * Holds: it is lost when the server says so, or when its time is over by this machine's own count of what passed since the
 *        renewal was asked for; a renewal that fails otherwise is tried again until then.
 */
import { isLasting, type LockstepError } from "@/lib/base/errors";

export interface Renewal {
  /** Default: a third of the lease. */
  renewEveryMs?: number;
  /** Share by which each pause is shorter or longer, so that many don't renew at once. Default 0.1. */
  jitter?: number;
  onLost?: (error: LockstepError) => void;
}

interface Kept extends Renewal {
  ttlMs: number;
  /** By `performance.now()`. */
  goodUntil: number;
  /** How long it lasts from when this was asked for, ms. */
  renew: () => Promise<number>;
  timeIsUp: () => LockstepError;
}

/** Runs `work` meanwhile; its signal aborts when the lease is lost, once `onLost` was called. */
export async function keepRenewed<T>(kept: Kept, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const lost = new AbortController();
  const over = new AbortController();
  const renewing = renewUntil(over.signal, kept).then((error) => {
    if (!error) return;
    lost.abort(error);
    kept.onLost?.(error);
  });
  try {
    return await work(lost.signal);
  } finally {
    over.abort();
    await renewing;
  }
}

/** Why it is lost; null when it is over. */
async function renewUntil(over: AbortSignal, kept: Kept): Promise<LockstepError | null> {
  const { ttlMs, renewEveryMs = ttlMs / 3, jitter = 0.1, renew, timeIsUp } = kept;
  for (let { goodUntil } = kept; ;) {
    const pauseMs = renewEveryMs * (1 + jitter * (2 * Math.random() - 1));
    await pause(Math.min(pauseMs, Math.max(0, goodUntil - performance.now())), over);
    if (over.aborted) return null;
    const askedAt = performance.now();
    if (askedAt >= goodUntil) return timeIsUp();
    try {
      goodUntil = askedAt + (await renew());
    } catch (error) {
      if (over.aborted) return null;
      if (isLasting(error)) return error;
      if (performance.now() >= goodUntil) return timeIsUp();
    }
  }
}

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
