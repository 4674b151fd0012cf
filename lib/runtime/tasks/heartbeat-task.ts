/**
 * A worker says that it is still there: its lease is renewed, its progress kept for the next attempt.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import { progressBytesMax } from "../limits";
import { requirePayload } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { leaseLost, underClaim } from "./task-claim";
import { withLease } from "./task-rules";

export interface HeartbeatTaskArgs {
  token: string;
  progress?: Json | undefined;
}
export interface HeartbeatResult {
  leaseUntil: number;
  /** From now until then. */
  leaseMs: number;
  /** The instance waits for it no more: stop, and say so by failing it. */
  cancel: boolean;
}

/** Throws `lease-lost`, `payload-too-large` (progress over 64 KiB). */
export async function heartbeatTask(
  context: RuntimeContext,
  actor: Actor,
  { token, progress }: HeartbeatTaskArgs,
): Promise<HeartbeatResult> {
  requirePermission(actor, "tasks:work");
  requireOpen(context);
  const kept = progress === undefined ? null : requireProgress(progress);
  return underClaim(context.store, token, async (tx, { task, now, standing }) => {
    if (standing === "answered") throw leaseLost(task);
    const renewed = { ...withLease(task, now), progress: kept ?? task.progress };
    await tx.writeTasks([renewed]);
    const leaseUntil = renewed.leaseUntil ?? now;
    return { leaseUntil, leaseMs: leaseUntil - now, cancel: standing === "cancelled" };
  });
}

function requireProgress(progress: Json): string {
  const text = requirePayload(progress, "progress");
  const bytes = Buffer.byteLength(text);
  if (bytes <= progressBytesMax) return text;
  throw new LockstepError(
    "payload-too-large",
    `progress is ${bytes} bytes; at most ${progressBytesMax} are kept. Store the rest elsewhere and keep its address.`,
    { details: { field: "progress", bytes, bytesMax: progressBytesMax } },
  );
}
