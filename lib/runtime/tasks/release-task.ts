/** A worker that ends gives back what it can't finish: another one may have it at once, as a further attempt. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { leaseLost, underClaim } from "./task-claim";
import { answeredLate, handedBack } from "./task-rules";

/** Throws `lease-lost`. `cancelled`: nobody waits for it any more. */
export function releaseTask(
  context: RuntimeContext,
  actor: Actor,
  { token }: { token: string },
): Promise<{ status: "pending" | "cancelled" }> {
  requirePermission(actor, "tasks:work");
  requireOpen(context);
  return underClaim(context.store, token, async (tx, { task, now, standing }) => {
    if (standing === "answered") throw leaseLost(task);
    if (standing === "cancelled") {
      await tx.writeTasks([answeredLate(task, {}, now)]);
      return { status: "cancelled" };
    }
    await tx.writeTasks([handedBack(task, now, false)]);
    return { status: "pending" };
  });
}
