/**
 * An instance stopped where it is, and its children with it, to go on later: what is sent to it waits in its mailbox, its
 * timers do not fire, tasks under way may answer into the mailbox.
 */
import type { Actor } from "@/lib/access/actor";
import { alsoChildren } from "./control-children";
import { controlInstance, type ControlArgs, type ControlResult } from "./control-instance";
import type { RuntimeContext } from "../runtime-context";

export async function suspendInstance(
  context: RuntimeContext,
  actor: Actor,
  args: ControlArgs,
): Promise<ControlResult> {
  const result = await controlInstance(context, actor, args, {
    verb: "suspend",
    from: ["running"],
    done: ["suspended"],
  });
  return alsoChildren(context, actor, args, result, [suspendInstance, "running"]);
}
