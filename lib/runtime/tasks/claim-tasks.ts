/**
 * Work for a worker: at most `max` tasks of its types, at once or as soon as there are some within `waitMs`.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import { claimMax, claimTypesMax, claimWaitMaxMs } from "../limits";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { isOwnType } from "./task-rules";
import { viewClaimedTask, type ClaimedTask } from "./task-views";

export interface ClaimTasksArgs {
  types: string[];
  /** Who claims: shown with the task. */
  workerId: string;
  /** As in the worker's beat: told apart from another one of its id. */
  session?: string | undefined;
  max?: number | undefined;
  waitMs?: number | undefined;
  /** Aborted when the caller has gone: nothing is claimed for it. */
  signal?: AbortSignal | undefined;
}

/**
 * No tasks: there was nothing to do within `waitMs`; ask again, but for `drain`: then an operator wants the worker to take no
 * more. Throws `worker-exists`.
 */
export async function claimTasks(
  context: RuntimeContext,
  actor: Actor,
  args: ClaimTasksArgs,
): Promise<{ tasks: ClaimedTask[]; drain: boolean }> {
  requirePermission(actor, "tasks:work");
  requireOpen(context);
  requireText(args.workerId, "workerId");
  requireText(args.session ?? "", "session");
  const types = [...new Set(args.types.map((type) => requireForeignType(requireText(type, "types"))))];
  if (types.length === 0 || types.length > claimTypesMax) {
    throw new LockstepError("bad-request", `types: name 1 to ${claimTypesMax} task types.`, {
      details: { field: "types" },
    });
  }
  const max = Math.max(1, Math.min(args.max ?? 1, claimMax));
  const waitMs = Math.max(0, Math.min(args.waitMs ?? 0, claimWaitMaxMs));
  const { workerId, session } = args;
  const request = { types, workerId, session, max };
  const { tasks, drain } = await context.taskWaits.claim(request, waitMs, args.signal);
  return { tasks: tasks.map(viewClaimedTask), drain };
}

function requireForeignType(type: string): string {
  if (!isOwnType(type)) return type;
  throw new LockstepError("bad-request", `Tasks of type ${type} are carried out by Lockstep itself.`, {
    details: { field: "types", type },
  });
}
