/**
 * Work on one instance that nobody comes between: a session is opened, renewed while `work` runs, and ended after it.
 *
 *   await withSession(client, "order-1", { ttlMs: 10_000 }, async ({ send, seq }) => {
 *     await send("reserve");
 *     await send("pay", { amount: 5 });
 *   });
 *
 * Holds: a session is lost when the server says so, or when its time is over by this machine's own count of what passed since
 *        the renewal was asked for; a renewal that fails is tried again until then. Once lost, `signal` aborts, `onLost` is
 *        called once, and every further send is refused by the server.
 */
import { isLasting, isPassing, LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { ResponseOf } from "@/lib/contract/endpoints";
import type { Client } from "./client";

export interface WithSessionOptions {
  /** Default 10 s. */
  ttlMs?: number;
  /** Default: a third of ttlMs. */
  renewEveryMs?: number;
  /** Share by which each pause is shorter or longer, so that many don't renew at once. Default 0.1. */
  jitter?: number;
  /** At most 60 s, however often it is renewed. */
  holdMaxMs?: number;
  /** How long to try while another's session is open. Default 5 s. */
  waitMs?: number;
  /** Shown to those who wait. */
  holder?: string;
  onLost?: (error: LockstepError) => void;
}

export interface SessionWork {
  /** To be given to calls made otherwise. */
  readonly session: string;
  /** Of the instance when the session began. */
  readonly seq: number;
  /** Aborted when the session is lost. */
  readonly signal: AbortSignal;
  readonly send: (type: string, data?: Json) => Promise<ResponseOf<"sendEvent">>;
  /** All or none. */
  readonly sendAll: (events: { type: string; data?: Json }[]) => Promise<ResponseOf<"sendEvents">>;
}

/** Rejects with what `work` throws, or with `instance-session` when another's session outlasts `waitMs`. */
export async function withSession<T>(
  client: Client,
  instanceId: string,
  options: WithSessionOptions,
  work: (session: SessionWork) => Promise<T>,
): Promise<T> {
  const { ttlMs = 10_000, jitter = 0.1, renewEveryMs = ttlMs / 3, onLost = () => undefined } = options;
  const askedAt = performance.now();
  const { session, seq, leftMs } = await openPatiently(client, instanceId, { ...options, ttlMs });
  const lost = new AbortController();
  const over = new AbortController();
  const renewing = renewUntilOver();
  try {
    return await work({
      session,
      seq,
      signal: lost.signal,
      send: (type, data) =>
        client.sendEvent({ instanceId, type, session, ...(data === undefined ? {} : { data }) }),
      sendAll: (events) => client.sendEvents({ instanceId, events, session }),
    });
  } finally {
    over.abort();
    await renewing;
    // Not ended by us, it ends by its time.
    await client.endSession({ instanceId, session }).catch(() => undefined);
  }

  async function renewUntilOver(): Promise<void> {
    let goodUntil = askedAt + leftMs;
    for (;;) {
      const pauseMs = renewEveryMs * (1 + jitter * (2 * Math.random() - 1));
      await pause(Math.min(pauseMs, Math.max(0, goodUntil - performance.now())), over.signal);
      if (over.signal.aborted) return;
      const renewedAt = performance.now();
      try {
        if (renewedAt >= goodUntil) throw timeIsUp(instanceId);
        goodUntil = renewedAt + (await client.renewSession({ instanceId, session, ttlMs })).leftMs;
      } catch (error) {
        if (over.signal.aborted) return;
        const isLost = isLasting(error);
        if (!isLost && performance.now() < goodUntil) continue;
        const told = isLost ? error : timeIsUp(instanceId);
        lost.abort(told);
        onLost(told);
        return;
      }
    }
  }
}

/** A key for all tries: an answer that was lost is got again, not waited out. */
async function openPatiently(
  client: Client,
  instanceId: string,
  { ttlMs, holdMaxMs, holder, waitMs = 5_000 }: WithSessionOptions,
): Promise<ResponseOf<"openSession">> {
  const idempotencyKey = crypto.randomUUID();
  const giveUpAt = performance.now() + waitMs;
  const args = {
    instanceId,
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(holdMaxMs === undefined ? {} : { holdMaxMs }),
    ...(holder === undefined ? {} : { holder }),
  };
  for (;;) {
    try {
      return await client.openSession(args, { idempotencyKey });
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (performance.now() > giveUpAt) throw error;
    }
    await pause(tryEveryMs * (0.5 + Math.random()));
  }
}

const tryEveryMs = 100;

const timeIsUp = (instanceId: string): LockstepError =>
  new LockstepError("lease-lost", `The session on instance ${instanceId} could not be renewed in time.`, {
    details: { instanceId },
  });

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
