/**
 * Which processes work: each says every few seconds that it is there, and is forgotten when it leaves or falls silent.
 *
 * Holds: an id belongs to one live session; a second one is refused as long as the first was heard of lately.
 */
import { LockstepError } from "@/lib/base/errors";
import type { Store } from "@/lib/store/store";
import type { WorkerRow } from "@/lib/store/workers";
import type { Caution } from "./caution";
import { workerBeatMs, workerSilentMs } from "../limits";
import { mournWorkers } from "./mourn-workers";

export type WorkerKind = "runtime" | "task";

/** What a worker says of itself. */
export interface WorkerBeat {
  workerId: string;
  session: string;
  kind: WorkerKind;
  types: readonly string[];
  slots: number;
  running: number;
  draining: boolean;
  note?: string | undefined;
}

/** True: a worker was lost lately. Throws `worker-exists`. */
export async function beat(store: Store, worker: WorkerBeat): Promise<boolean> {
  const { workerId, session, kind, types, slots, running, draining, note } = worker;
  const { isMine, wasLost } = await store.transaction(async (tx) => {
    const now = await tx.now();
    const wasLost = await mournWorkers(tx, now);
    const row: WorkerRow = {
      id: workerId,
      session,
      kind,
      types: JSON.stringify(types),
      slots,
      running,
      draining: draining ? 1 : 0,
      note: note ?? null,
      startedAt: now,
      seenAt: now,
      stepping: null,
      lostAt: null,
    };
    return { isMine: await tx.putWorker(row, workerSilentMs), wasLost };
  });
  if (isMine) return wasLost;
  throw workerExists(workerId);
}

export const workerExists = (workerId: string): LockstepError =>
  new LockstepError(
    "worker-exists",
    `There is a worker ${workerId} already, heard of within the last ${workerSilentMs / 1000} s. Choose another id, or wait until it is gone.`,
    { details: { workerId } },
  );

/** Neither silent nor found to have ended. */
export const isLive = ({ seenAt, lostAt }: Pick<WorkerRow, "seenAt" | "lostAt">, now: number): boolean =>
  lostAt === null && seenAt > now - workerSilentMs;

export const leave = (store: Store, { workerId, session }: Pick<WorkerBeat, "workerId" | "session">) =>
  store.transaction((tx) => tx.removeWorker(workerId, session));

/** This process's own place among the workers. */
export class Presence {
  private beatAt = 0;
  private present = false;
  private begun: () => void = () => undefined;
  /** After the first beat, or the attempt: only then is it known whether there is reason for caution. */
  readonly whenBegun = new Promise<void>((resolve) => (this.begun = resolve));

  constructor(
    private readonly store: Store,
    private readonly caution: Caution,
    private readonly self: () => WorkerBeat,
  ) {}

  /** A loop's round: beats when it is time to. */
  async round(): Promise<boolean> {
    if (performance.now() < this.beatAt) return false;
    try {
      const wasLost = await beat(this.store, this.self());
      this.present = true;
      this.beatAt = performance.now() + workerBeatMs;
      await this.caution.set(wasLost);
    } finally {
      this.begun();
    }
    return false;
  }

  /** Says with the next round what has changed. */
  beatSoon(): void {
    this.beatAt = 0;
  }

  async end(): Promise<void> {
    if (this.present) await leave(this.store, this.self());
  }
}
