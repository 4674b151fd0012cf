/**
 * An instance asked to end: its chart gets the event `cancel`. One that handles it is `cancelling` and runs on until it
 * reaches its end, then `cancelled`; one that doesn't handle it, or fails at it, is halted where it is and `cancelled` at once.
 * So are its children, also where its chart goes on waiting for them.
 */
import type { Actor } from "@/lib/access/actor";
import { alsoChildren } from "./control-children";
import { controlInstance, type ControlArgs, type ControlResult } from "./control-instance";
import type { RuntimeContext } from "../runtime-context";

export async function cancelInstance(
  context: RuntimeContext,
  actor: Actor,
  args: ControlArgs,
): Promise<ControlResult> {
  const result = await controlInstance(context, actor, args, {
    verb: "cancel",
    from: ["queued", "running", "suspended", "failed", "stuck"],
    done: ["cancelling", "cancelled"],
  });
  return alsoChildren(context, actor, args, result, [cancelInstance, "running"]);
}
