/**
 * Work under a lock: it is acquired, renewed while `work` runs, and released after it.
 *
 *   await withLock(client, "zone:14", { ttlMs: 30_000 }, async ({ proof, signal }) => {
 *     await client.sendEvent({ instanceId: "agv-3", type: "enter", fences: [proof] });
 *   });
 *
 * Holds: as keep-renewed.ts. Once lost, `signal` aborts and `onLost` is called once; a write that carries the proof is refused
 *        by the server from then on, whatever this process believes.
 */
import { isPassing, LockstepError } from "@/lib/base/errors";
import type { ResponseOf } from "@/lib/contract/endpoints";
import type { Client } from "./client";
import { keepRenewed, pause, type Renewal } from "./keep-renewed";

export interface WithLockOptions extends Renewal {
  /** Default 30 s. */
  ttlMs?: number;
  /** How long to stand in line while another has it. Default 30 s; 0: not at all. */
  waitMs?: number;
  /** Shown to those who wait. Default: the session. */
  holder?: string;
}

export interface LockWork {
  readonly fence: number;
  readonly session: string;
  /** To be given to writes that must not happen without the lock, among their `fences`. */
  readonly proof: { key: string; session: string; fence: number };
  /** Aborted when the lock is lost. */
  readonly signal: AbortSignal;
}

/** Rejects with what `work` throws, or with `lock-busy` when another has it for longer than `waitMs`. */
export async function withLock<T>(
  client: Client,
  key: string,
  options: WithLockOptions,
  work: (lock: LockWork) => Promise<T>,
): Promise<T> {
  const { ttlMs = 30_000 } = options;
  const session = crypto.randomUUID();
  const { fence, goodUntil } = await acquire(client, key, session, { ...options, ttlMs });
  const proof = { key, session, fence };
  const kept = {
    ...options,
    ttlMs,
    goodUntil,
    renew: async () => {
      await client.renewLock({ ...proof, ttlMs });
      return ttlMs;
    },
    timeIsUp: () =>
      new LockstepError("lock-lost", `The lock ${key} could not be renewed in time.`, { details: { key } }),
  };
  try {
    return await keepRenewed(kept, (signal) => work({ fence, session, proof, signal }));
  } finally {
    // Not released by us, it ends by its time.
    await client.releaseLock(proof).catch(() => undefined);
  }
}

/** A key for all tries: a grant whose answer was lost is got again, not waited out. */
async function acquire(
  client: Client,
  key: string,
  session: string,
  { ttlMs, waitMs = 30_000, holder = session }: WithLockOptions & { ttlMs: number },
): Promise<{ fence: number; goodUntil: number }> {
  const idempotencyKey = crypto.randomUUID();
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    const askedAt = performance.now();
    const left = Math.round(Math.min(waitMaxMs, Math.max(0, giveUpAt - askedAt)));
    try {
      const answer = await client.acquireLock(
        { key, session, holder, ttlMs, waitMs: left },
        { idempotencyKey },
      );
      // Granted while it waited, its time began then: no earlier than it was asked for.
      if (answer.result === "acquired" && answer.valid)
        return { fence: answer.fence, goodUntil: askedAt + ttlMs };
      if (answer.result === "acquired") throw lost(key);
      if (performance.now() >= giveUpAt) throw busy(key, answer);
    } catch (error) {
      if (!isPassing(error) || performance.now() >= giveUpAt) throw error;
      await pause(tryEveryMs * (0.5 + Math.random()));
    }
  }
}

/** What one call may wait. */
const waitMaxMs = 30_000;
const tryEveryMs = 100;

const busy = (
  key: string,
  { holder }: Extract<ResponseOf<"acquireLock">, { result: "busy" }>,
): LockstepError =>
  new LockstepError("lock-busy", `The lock ${key} is held by ${holder}.`, { details: { key, holder } });

const lost = (key: string): LockstepError =>
  new LockstepError("lock-lost", `The lock ${key} was granted, and its time is over.`, { details: { key } });
