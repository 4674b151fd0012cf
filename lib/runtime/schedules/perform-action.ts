/**
 * What one tick of a schedule does, in the transaction that records it.
 *
 * Holds: I4 its idempotency key is made of schedule and tick. The schedule's row is held; an instance is started, or a
 *        message put into a mailbox, and no instance that is there already is held.
 */
import type { Actor } from "@/lib/access/actor";
import { hashJson } from "@/lib/base/canonical";
import { LockstepError } from "@/lib/base/errors";
import type { InstanceRow, MessageRow } from "@/lib/store/instances";
import type { TickRow } from "@/lib/store/schedules";
import { noWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import type { StepInput } from "@/lib/statechart/step";
import { findLiveInstance } from "../instances/get-instance";
import { isEnded } from "../instances/instance-views";
import type { VersionName } from "../charts/machines";
import { newMessageId } from "../new-id";
import { instanceEnded } from "../refusals";
import type { RuntimeContext } from "../runtime-context";
import type { ScheduleAction, SendAction, StartAction } from "./schedule-views";
import { chooseVersion, startIn } from "../instances/start-instance";
import { sendScope } from "../stepping/step-batch";

/** An action with what it needs that is read before its transaction. */
export type ReadyAction =
  | { action: StartAction; version: VersionName }
  | { action: SendAction; target: Pick<InstanceRow, "id" | "incarnation"> };

/** Throws `not-found`, `version-not-found`, `instance-ended`, `ambiguous-key`. */
export async function readyAction(context: RuntimeContext, action: ScheduleAction): Promise<ReadyAction> {
  if (action.kind === "send") return { action, target: await targetOf(context, action.to) };
  const { chartId, version } = action;
  return { action, version: await chooseVersion(context, { chartId, version: version ?? undefined }) };
}

/** `key`: of the schedule and the tick. */
export async function performAction(
  context: RuntimeContext,
  tx: StoreTransaction,
  actor: Actor,
  ready: ReadyAction,
  key: string,
): Promise<Pick<TickRow, "outcome" | "instanceId" | "messageId">> {
  if ("version" in ready) {
    const { chartId, input, businessKey, labels, priority } = ready.action;
    const start = {
      chartId,
      input,
      businessKey: businessKey ?? undefined,
      labels,
      priority,
      idempotencyKey: key,
    };
    const { view } = await startIn(context, tx, actor, start, ready.version);
    return { outcome: "started", instanceId: view.id, messageId: null };
  }
  const messageId = await enqueue(tx, actor, ready, key);
  return { outcome: "sent", instanceId: ready.target.id, messageId };
}

async function enqueue(
  tx: StoreTransaction,
  actor: Actor,
  { action: { type, data }, target }: Extract<ReadyAction, { target: unknown }>,
  key: string,
): Promise<string> {
  const messageId = newMessageId();
  const now = await tx.now();
  const dedupeScope = sendScope(target, actor.id);
  const digest = hashJson({ type, data });
  const earlier = await tx.claimAnswer({ scope: dedupeScope, key, digest, messageId, result: null, at: now });
  if (earlier?.messageId) return earlier.messageId;
  const input: StepInput = { kind: "event", type, ...(data === null ? {} : { data }) };
  const message: MessageRow = {
    instanceId: target.id,
    incarnation: target.incarnation,
    messageId,
    type,
    input: JSON.stringify(input),
    actor: actor.id,
    cause: null,
    enqueuedAt: now,
    dedupeScope,
    dedupeKey: key,
    expectedSeq: null,
    fences: null,
  };
  await tx.writeSteps({ ...noWrites(), enqueued: [message] });
  return messageId;
}

/** Enough to tell one from several. */
const keyHoldersMax = 200;

async function targetOf({ store }: RuntimeContext, to: SendAction["to"]): Promise<ReadyTarget> {
  if ("instanceId" in to) {
    const row = await findLiveInstance(store, to.instanceId);
    if (isEnded(row.status)) throw instanceEnded(row);
    return row;
  }
  const { businessKey } = to;
  const holders = await store.listInstances({ businessKey }, null, keyHoldersMax);
  const [open, second] = holders.filter(({ status }) => !isEnded(status));
  if (open && !second) return open;
  throw new LockstepError(
    open ? "ambiguous-key" : "not-found",
    open
      ? `Several unended instances have the business key ${businessKey}: ${open.id} and ${second?.id ?? ""}. Name one by its id.`
      : `No unended instance has the business key ${businessKey}.`,
    { details: { businessKey } },
  );
}
type ReadyTarget = Pick<InstanceRow, "id" | "incarnation">;
