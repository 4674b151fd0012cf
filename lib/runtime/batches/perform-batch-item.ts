/**
 * A batch's verb on one of its instances.
 *
 * Holds: I4 the call's idempotency key is made of batch and place, and so are the ids of dead letters sent again: repeated
 *        after a crash it changes nothing more and has the same outcome, also when a deleted id is another's by then.
 */
import type { Actor } from "@/lib/access/actor";
import { must } from "@/lib/base/assert";
import { sha256Hex } from "@/lib/base/canonical";
import { isLasting, isPassing, LockstepError } from "@/lib/base/errors";
import type { BatchItemRow, BatchRow } from "@/lib/store/batches";
import type { DeadLetterCursor } from "@/lib/store/instances";
import type { Store } from "@/lib/store/store";
import type { BatchVerb, BatchVerbArgs } from "./batch-views";
import { cancelInstance } from "../control/cancel-instance";
import { forkInstance } from "../control/fork-instance";
import { resetInstance } from "../control/reset-instance";
import { deleteInstance } from "../instances/delete-instance";
import type { ControlArgs, ControlResult } from "../control/control-instance";
import { findLiveInstance } from "../instances/get-instance";
import { callScope } from "../stepping/in-turn";
import { migrateInstance } from "../control/migrate-instance";
import { redriveInstance } from "../control/redrive-instance";
import { resumeInstance } from "../control/resume-instance";
import { retryDeadLetter } from "../control/retry-dead-letter";
import type { RuntimeContext } from "../runtime-context";
import { suspendInstance } from "../control/suspend-instance";
import { terminateInstance } from "../control/terminate-instance";

export type ItemOutcome = Pick<BatchItemRow, "status" | "attempts" | "code" | "message">;

/** Busy instances and databases: tried so often, each time in another portion. */
const attemptsMax = 10;
const lettersPageMax = 200;

type Control = (context: RuntimeContext, actor: Actor, args: ControlArgs) => Promise<ControlResult>;
const controls: Partial<Record<BatchVerb, Control>> = {
  suspend: suspendInstance,
  resume: resumeInstance,
  cancel: cancelInstance,
  terminate: terminateInstance,
  redrive: redriveInstance,
};

/** Never throws: what is refused, or fails, is the item's outcome. `pending`: try it again later. */
export async function performBatchItem(
  context: RuntimeContext,
  actor: Actor,
  { id, verb }: Pick<BatchRow, "id" | "verb">,
  args: BatchVerbArgs,
  item: BatchItemRow,
  report: (error: unknown) => void,
): Promise<ItemOutcome> {
  const attempts = item.attempts + 1;
  try {
    const key = `${id}:${item.place}`;
    const changed = await perform(context, actor, verb as BatchVerb, args, item.instanceId, key);
    return { status: changed ? "ok" : "skipped", attempts, code: null, message: null };
  } catch (error) {
    if (!(error instanceof LockstepError)) {
      report(error);
      return {
        status: "refused",
        attempts,
        code: "internal",
        message: "A defect of Lockstep; the log says more.",
      };
    }
    const { code, message } = error;
    return {
      status: isPassing(error) && attempts < attemptsMax ? "pending" : "refused",
      attempts,
      code,
      message,
    };
  }
}

/** False: there was nothing to do. */
async function perform(
  context: RuntimeContext,
  actor: Actor,
  verb: BatchVerb,
  args: BatchVerbArgs,
  instanceId: string,
  idempotencyKey: string,
): Promise<boolean> {
  const { reason, version, mapping, seq, rearmTimers, laterEvents } = args;
  const control = controls[verb];
  if (control) return (await control(context, actor, { instanceId, reason, idempotencyKey })).changed;
  if (verb === "retry-dead-letters") return retryAll(context, actor, instanceId, idempotencyKey);
  if (verb === "delete") {
    await deleteInstance(context, actor, { instanceId, reason, idempotencyKey });
    return true;
  }
  if (verb === "reset" || verb === "fork") {
    // What it begins from may be gone by now.
    if (await wasDone(context, actor, verb, instanceId, idempotencyKey)) return true;
    const call = { instanceId, rearmTimers, reason, idempotencyKey };
    if (verb === "reset") await resetInstance(context, actor, { ...call, seq: must(seq, "reset has a seq") });
    else await forkInstance(context, actor, { ...call, seq: seq ?? undefined, laterEvents });
    return true;
  }
  const to = version ?? 0;
  if (await isThere(context, actor, instanceId, to, idempotencyKey)) return false;
  const call = { instanceId, version: to, mapping, reason, idempotencyKey };
  return (await migrateInstance(context, actor, call, true)).changed;
}

/** Of that version already, and not because this very call moved it. */
async function isThere(
  { store }: RuntimeContext,
  actor: Actor,
  instanceId: string,
  version: number,
  key: string,
): Promise<boolean> {
  const row = await findLiveInstance(store, instanceId);
  return row.version === version && !(await isAnswered(store, [callScope("migrate", row, actor.id)], key));
}

/** By this very call, also to one that was deleted since, and whose id may be another's by now. */
async function wasDone(
  { store }: RuntimeContext,
  actor: Actor,
  verb: "reset" | "fork",
  id: string,
  key: string,
): Promise<boolean> {
  const newest = (await store.findInstance(id))?.incarnation ?? 0;
  const lives = Array.from({ length: Math.min(newest, livesMax) }, (_, back) => newest - back);
  const scopes = lives.map((incarnation) => callScope(verb, { id, incarnation }, actor.id));
  return isAnswered(store, scopes, key);
}
/** The call was made in one of the last: more don't go by between a portion and its repeat. */
const livesMax = 100;

const isAnswered = async (store: Store, scopes: readonly string[], key: string): Promise<boolean> =>
  (await store.transaction((tx) => tx.findAnswers(scopes.map((scope) => ({ scope, key }))))).length > 0;

async function retryAll(
  context: RuntimeContext,
  actor: Actor,
  instanceId: string,
  key: string,
): Promise<boolean> {
  let sent = 0;
  const failures: LockstepError[] = [];
  await findLiveInstance(context.store, instanceId);
  const sentAs = (messageId: string) => `m-${sha256Hex(`${key}:${messageId}`).slice(0, 25)}`;
  for (let after: DeadLetterCursor | null = null; ;) {
    const letters = await context.store.listDeadLetters(instanceId, after, lettersPageMax);
    for (const { messageId, retriedAs, cause } of letters) {
      const again = sentAs(messageId);
      // Sent again by others; or by this very call, and it failed again.
      if ((retriedAs !== null && retriedAs !== again) || (cause !== null && messageId === sentAs(cause)))
        continue;
      sent += 1;
      try {
        await retryDeadLetter(context, actor, { instanceId, messageId, again });
      } catch (error) {
        if (!isLasting(error)) throw error;
        failures.push(error);
      }
    }
    const last = letters.at(-1);
    if (!last || letters.length < lettersPageMax) break;
    after = { at: last.at, instanceId: last.instanceId, messageId: last.messageId };
  }
  const [first] = failures;
  if (!first) return sent > 0;
  throw new LockstepError(
    first.code,
    `${failures.length} of ${sent} dead letters were not applied, the others were. The first: ${first.message}`,
    { details: { failed: failures.length, sent } },
  );
}
