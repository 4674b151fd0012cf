/**
 * Work under a lock, or under several at once: acquired, renewed while `work` runs, and released after it.
 *
 *   await withLock(client, "zone:14", { ttlMs: 30_000 }, async ({ proof, signal }) => {
 *     await client.sendEvent({ instanceId: "agv-3", type: "enter", fences: [proof] });
 *   });
 *   await withLock(client, ["zone:14", "zone:15"], {}, async ({ proofs }) => …);
 *
 * Holds: as keep-renewed.ts. Once one is lost, `signal` aborts and `onLost` is called once; a write that carries its proof is
 *        refused by the server from then on, whatever this process believes. Of several all are had or none.
 */
import { must } from "@/lib/base/assert";
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
  /** Lost after it, however long the work takes. Default: never for that. */
  holdMaxMs?: number;
  /** How long after the work nobody else is to have it. Default: not at all. */
  coolMs?: number;
}

/** To be given to writes that must not happen without the lock, among their `fences`. */
export interface LockProof {
  key: string;
  session: string;
  fence: number;
}

export interface LocksWork {
  readonly session: string;
  /** Of each lock, by key. */
  readonly proofs: readonly LockProof[];
  /** Aborted when a lock is lost. */
  readonly signal: AbortSignal;
}
export interface LockWork extends LocksWork {
  readonly fence: number;
  readonly proof: LockProof;
}

/** Rejects with what `work` throws, or with `lock-busy` when another has it for longer than `waitMs`. */
export function withLock<T>(
  client: Client,
  key: string,
  options: WithLockOptions,
  work: (lock: LockWork) => Promise<T>,
): Promise<T>;
export function withLock<T>(
  client: Client,
  keys: readonly string[],
  options: WithLockOptions,
  work: (locks: LocksWork) => Promise<T>,
): Promise<T>;
export async function withLock<T>(
  client: Client,
  keys: string | readonly string[],
  options: WithLockOptions,
  work: (lock: LockWork) => Promise<T>,
): Promise<T> {
  const { ttlMs = 30_000 } = options;
  const session = crypto.randomUUID();
  const asked = typeof keys === "string" ? [keys] : keys;
  const { proofs, goodUntil } = await acquire(client, asked, session, { ...options, ttlMs });
  const proof = must(proofs[0], "what was acquired is at least one");
  const kept = {
    ...options,
    ttlMs,
    goodUntil,
    renew: () => renewAll(client, proofs, ttlMs),
    timeIsUp: () =>
      new LockstepError("lock-lost", `The lock ${asked.join(", ")} could not be renewed in time.`, {
        details: { key: proof.key },
      }),
  };
  try {
    return await keepRenewed(kept, (signal) => work({ fence: proof.fence, session, proof, proofs, signal }));
  } finally {
    // Not released by us, they end by their time.
    await Promise.allSettled(proofs.map((each) => client.releaseLock(each)));
  }
}

/** How long all of them last from now on, ms. */
async function renewAll(client: Client, proofs: readonly LockProof[], ttlMs: number): Promise<number> {
  const renewed = await Promise.all(proofs.map((proof) => client.renewLock({ ...proof, ttlMs })));
  return Math.min(...renewed.map(({ leftMs }) => leftMs));
}

/** A key for all tries: a grant whose answer was lost is got again, not waited out. */
async function acquire(
  client: Client,
  keys: readonly string[],
  session: string,
  {
    ttlMs,
    waitMs = 30_000,
    holder = session,
    holdMaxMs = Infinity,
    coolMs,
  }: WithLockOptions & { ttlMs: number },
): Promise<{ proofs: LockProof[]; goodUntil: number }> {
  const idempotencyKey = crypto.randomUUID();
  const call = {
    ...{ keys: [...keys], session, holder, ttlMs },
    ...(holdMaxMs === Infinity ? {} : { holdMaxMs }),
    ...(coolMs === undefined ? {} : { coolMs }),
  };
  const beganAt = performance.now();
  const giveUpAt = beganAt + waitMs;
  for (;;) {
    const left = Math.round(Math.min(waitMaxMs, Math.max(0, giveUpAt - performance.now())));
    try {
      const answer = await client.acquireLocks({ ...call, waitMs: left }, { idempotencyKey });
      if (answer.result === "acquired") {
        if (!answer.valid) throw lost(keys);
        const proofs = answer.locks.map(({ key, fence }) => ({ key, session, fence }));
        // While it waited, or by a try whose answer was lost: when it was granted is not known, but that it was not before.
        if (performance.now() < beganAt + ttlMs / 3)
          return { proofs, goodUntil: beganAt + Math.min(ttlMs, holdMaxMs) };
        const renewedAt = performance.now();
        return { proofs, goodUntil: renewedAt + (await renewAll(client, proofs, ttlMs)) };
      }
      if (performance.now() >= giveUpAt) throw busy(answer);
    } catch (error) {
      if (!isPassing(error) || performance.now() >= giveUpAt) throw error;
      await pause(tryEveryMs * (0.5 + Math.random()));
    }
  }
}

/** What one call may wait. */
const waitMaxMs = 30_000;
const tryEveryMs = 100;

type Answer = ResponseOf<"acquireLocks">;

function busy({ locks }: Extract<Answer, { result: "busy" }>): LockstepError {
  const said = locks.map(({ key, holder, coolUntil }) =>
    coolUntil !== null
      ? `The lock ${key} cools down.`
      : holder !== null
        ? `The lock ${key} is held by ${holder}.`
        : `The lock ${key} is free, and others are before you in line.`,
  );
  const { key, holder } = must(locks[0], "what is busy is named");
  return new LockstepError("lock-busy", said.join(" "), { details: { key, holder } });
}

const lost = (keys: readonly string[]): LockstepError =>
  new LockstepError("lock-lost", `The lock ${keys.join(", ")} was granted, and its time is over.`, {
    details: { key: keys[0] ?? "" },
  });
