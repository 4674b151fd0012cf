/**
 * A suspended instance goes on, and its children with it: timers that came due meanwhile fire, late, then its mailbox is
 * applied in order.
 */
import type { Actor } from "@/lib/access/actor";
import { alsoChildren } from "./control-children";
import { controlInstance, type ControlArgs, type ControlResult } from "./control-instance";
import type { RuntimeContext } from "../runtime-context";

export async function resumeInstance(
  context: RuntimeContext,
  actor: Actor,
  args: ControlArgs,
): Promise<ControlResult> {
  const result = await controlInstance(context, actor, args, {
    verb: "resume",
    from: ["suspended"],
    done: ["running"],
  });
  return alsoChildren(context, actor, args, result, [resumeInstance, "suspended"]);
}
