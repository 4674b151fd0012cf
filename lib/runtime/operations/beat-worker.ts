/** A task worker says that it is there, what it takes and how busy it is; or that it leaves. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { workerBeatMs } from "../limits";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { beat, leave, type WorkerBeat } from "./worker-registry";

export interface BeatWorkerArgs extends Omit<WorkerBeat, "kind"> {
  /** It is ending: forget it. */
  leaving?: boolean | undefined;
}

/** `nextMs`: be heard of again within this time. `drain`: take no more and end. Throws `worker-exists`. */
export async function beatWorker(
  context: RuntimeContext,
  actor: Actor,
  { leaving, ...worker }: BeatWorkerArgs,
): Promise<{ nextMs: number; drain: boolean }> {
  requirePermission(actor, "tasks:work");
  requireOpen(context);
  for (const field of ["workerId", "session", "note"] as const) requireText(worker[field] ?? "", field);
  for (const type of worker.types) requireText(type, "types");
  if (leaving) await leave(context.store, worker);
  else await beat(context.store, { ...worker, kind: "task" });
  const orders = leaving ? null : await context.store.findOrders(worker.workerId, worker.session);
  return { nextMs: workerBeatMs, drain: orders?.drainAsked === 1 };
}
