/** A suspended instance goes on: timers that came due meanwhile fire, late, then its mailbox is applied in order. */
import type { Actor } from "@/lib/access/actor";
import { controlInstance, type ControlArgs, type ControlResult } from "./control-instance";
import type { RuntimeContext } from "./runtime-context";

export function resumeInstance(
  context: RuntimeContext,
  actor: Actor,
  args: ControlArgs,
): Promise<ControlResult> {
  return controlInstance(context, actor, args, { verb: "resume", from: ["suspended"], done: ["running"] });
}
