/**
 * Taking tasks, and acting under a claim: each one transaction.
 *
 * Holds: I3 what a lost claim would write is refused as `lease-lost` and nothing changes.
 *        Fairness: most claims take the highest tiers first, the others whoever has been ready longest.
 */
import { canonicalJson } from "@/lib/base/canonical";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { Store, StoreTransaction } from "@/lib/store/store";
import type { Partitions } from "@/lib/store/instances";
import type { TaskRow } from "@/lib/store/tasks";
import { newTaskToken } from "../new-id";
import { claimed, handedBack, standing } from "./task-rules";
import { urgentRank, type Fairness } from "../workers/choose-runnable";

export interface ClaimRequest {
  types: readonly string[];
  workerId: string;
  /** The worker's, as in its beat; undefined: it is not told apart from others of its id. */
  session?: string | undefined;
  max: number;
  /** Of the tasks' instances; default: all. */
  partitions?: Partitions | undefined;
}

export function claimNow(store: Store, request: ClaimRequest, fairness: Fairness): Promise<TaskRow[]> {
  const urgentFirst = Math.random() < fairness.highRatio ? fairness : null;
  return store.transaction((tx) => claimIn(tx, request, urgentFirst));
}

/** `urgentFirst`: effective tiers from its threshold up first, by rank; then, or else, who has been ready longest. */
export async function claimIn(
  tx: StoreTransaction,
  { types, workerId, max, partitions }: ClaimRequest,
  urgentFirst: Fairness | null,
): Promise<TaskRow[]> {
  const before = await tx.now();
  const bound = urgentFirst ? urgentRank(before, urgentFirst) : Number.MIN_SAFE_INTEGER;
  const look = async (by: "rank" | "ready", limit: number): Promise<TaskRow[]> => {
    if (limit === 0) return [];
    const found = await Promise.all(
      types.map((type) => tx.lockClaimable(type, { by, bound }, before, limit, partitions)),
    );
    const key = by === "rank" ? "rank" : "readyAt";
    return found
      .flat()
      .sort((a, b) => a[key] - b[key])
      .slice(0, limit);
  };
  const first = urgentFirst ? await look("rank", max) : [];
  const tasks = [...first, ...(await look("ready", max - first.length))];
  if (tasks.length === 0) return [];
  const now = await tx.now();
  const rows = tasks.map((task) => claimed(task, workerId, newTaskToken(), now));
  await tx.writeTasks(rows);
  return rows;
}

/** For claims that never reached their worker. */
export async function handBack(store: Store, claims: readonly TaskRow[]): Promise<void> {
  if (claims.length === 0) return;
  await store.transaction(async (tx) => {
    const rows = await tx.lockTasks(claims);
    const now = await tx.now();
    const mine = rows.filter((row) => claims.some(({ token }) => token === row.token));
    await tx.writeTasks(
      mine.filter((row) => standing(row, now) === "running").map((row) => handedBack(row, now, true)),
    );
  });
}

export interface Claim {
  task: TaskRow;
  /** The time that decided. */
  now: number;
  standing: Exclude<ReturnType<typeof standing>, "lost">;
}

/** Runs `work` while the claim's task is held. Throws `lease-lost` when the claim counts no more. */
export function underClaim<T>(
  store: Store,
  token: string,
  work: (tx: StoreTransaction, claim: Claim) => Promise<T>,
): Promise<T> {
  return store.transaction(async (tx) => {
    const [task, now] = await Promise.all([tx.lockTaskByToken(token), tx.now()]);
    const stands = task === null ? "lost" : standing(task, now);
    if (task === null || stands === "lost") throw leaseLost(task);
    return work(tx, { task, now, standing: stands });
  });
}

/** The answer that came first stands. */
export const answeredOtherwise = ({ instanceId, taskId, status }: TaskRow): LockstepError =>
  new LockstepError(
    "wrong-status",
    `Nothing was changed: task ${taskId} of ${instanceId} has another answer already, and that one stands.`,
    { details: { instanceId, taskId, status } },
  );

/** Is it what was stored? The order of its keys tells nothing. */
export const isSameAnswer = (stored: string | null, answer: Json): boolean =>
  stored !== null && canonicalOf(stored) === canonicalOf(JSON.stringify(answer));
const canonicalOf = (text: string): string => canonicalJson(JSON.parse(text) as Json);

export const leaseLost = (task: TaskRow | null): LockstepError =>
  new LockstepError(
    "lease-lost",
    task === null
      ? "Nothing was written: this token claims no task. Its lease ran out, or its instance was deleted. Stop working on it."
      : `Nothing was written: this claim of task ${task.taskId} of ${task.instanceId} counts no more. Stop working on it.`,
    {
      details: task === null ? {} : { instanceId: task.instanceId, taskId: task.taskId, status: task.status },
    },
  );
