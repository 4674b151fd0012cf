/**
 * What a batch is asked to do must be possible: asked alike when it is made and when it is only counted for a verb.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { BatchSelection, BatchVerb } from "./batch-views";
import { requireSelection } from "./require-selection";
import { requireText } from "../require-payload";
import type { RuntimeContext } from "../runtime-context";

export interface BatchArgs {
  verb: BatchVerb;
  selection: BatchSelection;
  /** Kept in each instance's log and in the audit. */
  reason: string;
  /** Shown in lists; made from the verb when absent. */
  name?: string | undefined;
  /** Of `migrate`. */
  version?: number | undefined;
  mapping?: Record<string, string> | undefined;
  /** Of `reset` and `fork`. */
  seq?: number | undefined;
  rearmTimers?: boolean | undefined;
  /** Of `fork`. */
  laterEvents?: boolean | undefined;
  /** At most so many instances a second; default: as fast as they go. */
  ratePerSecond?: number | undefined;
}

/** Its selection, each id once. Throws `bad-request`, `not-found` (chart), `version-not-found`. */
export async function requireBatch(
  context: RuntimeContext,
  actor: Actor,
  args: BatchArgs,
): Promise<BatchSelection> {
  requirePermission(actor, "instances:control");
  // Each makes a new one.
  if (args.verb === "fork") requirePermission(actor, "instances:start");
  requireText(args.reason, "reason");
  requireText(args.name ?? "", "name");
  requireFitting(args);
  const { version, mapping = {} } = args;
  return requireSelection(context, args.selection, version === undefined ? null : { version, mapping });
}

/** What a verb has no use for is refused, never passed over. */
function requireFitting({ verb, version, mapping = {}, seq, rearmTimers, laterEvents }: BatchArgs): void {
  const refuse = (field: string, why: string) => {
    throw new LockstepError("bad-request", `${field}: ${why}.`, { details: { field } });
  };
  if ((verb === "migrate") !== (version !== undefined))
    refuse("version", "migrate needs the version to move to; other verbs take none");
  if (verb !== "migrate" && Object.keys(mapping).length > 0)
    refuse("mapping", "only migrate moves states to other names");
  const isBack = verb === "reset" || verb === "fork";
  if ((verb === "reset" && seq === undefined) || (!isBack && seq !== undefined))
    refuse("seq", "reset needs the entry to go back to, fork may name one; other verbs take none");
  if (!isBack && rearmTimers === true)
    refuse("rearmTimers", "only reset and fork begin from an earlier entry");
  if (verb !== "fork" && laterEvents === true) refuse("laterEvents", "only fork repeats later events");
}
