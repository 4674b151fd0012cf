/**
 * Work on one instance that nobody comes between: a session is opened, renewed while `work` runs, and ended after it.
 *
 *   await withSession(client, "order-1", { ttlMs: 10_000 }, async ({ send, seq }) => {
 *     await send("reserve");
 *     await send("pay", { amount: 5 });
 *   });
 *
 * Holds: as keep-renewed.ts. Once lost, `signal` aborts, `onLost` is called once, and every further send is refused by the
 *        server.
 */
import { isPassing, LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { ResponseOf } from "@/lib/contract/endpoints";
import type { Client } from "./client";
import { keepRenewed, pause, type Renewal } from "./keep-renewed";

export interface WithSessionOptions extends Renewal {
  /** Default 10 s. */
  ttlMs?: number;
  /** At most 60 s, however often it is renewed. */
  holdMaxMs?: number;
  /** How long to try while another's session is open. Default 5 s. */
  waitMs?: number;
  /** Shown to those who wait. */
  holder?: string;
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
  const { ttlMs = 10_000 } = options;
  const askedAt = performance.now();
  const { session, seq, leftMs } = await openPatiently(client, instanceId, { ...options, ttlMs });
  const kept = {
    ...options,
    ttlMs,
    goodUntil: askedAt + leftMs,
    renew: async () => (await client.renewSession({ instanceId, session, ttlMs })).leftMs,
    timeIsUp: () => timeIsUp(instanceId),
  };
  try {
    return await keepRenewed(kept, (signal) =>
      work({
        session,
        seq,
        signal,
        send: (type, data) =>
          client.sendEvent({ instanceId, type, session, ...(data === undefined ? {} : { data }) }),
        sendAll: (events) => client.sendEvents({ instanceId, events, session }),
      }),
    );
  } finally {
    // Not ended by us, it ends by its time.
    await client.endSession({ instanceId, session }).catch(() => undefined);
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
