/** An instance ended now, without a word to its chart: what waits becomes dead letters, timers and tasks go. */
import type { Actor } from "@/lib/access/actor";
import { controlInstance, type ControlArgs, type ControlResult } from "./control-instance";
import type { RuntimeContext } from "../runtime-context";

export function terminateInstance(
  context: RuntimeContext,
  actor: Actor,
  args: ControlArgs,
): Promise<ControlResult> {
  return controlInstance(context, actor, args, {
    verb: "terminate",
    from: ["queued", "running", "suspended", "cancelling", "compensating", "stuck", "failed"],
    done: ["terminated"],
  });
}
