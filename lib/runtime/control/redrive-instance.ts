/**
 * A failed instance taken up again from the step that failed it: the same message, timer or answer first, then what waited
 * behind it. One whose very start failed begins anew. A stuck one goes on undoing: what could not be undone is tried again,
 * with as many attempts as at first. One whose concurrency key another has waits in line for it.
 *
 * Holds: what the failed step had used up (a timer, an invocation) is put back by the control entry itself, so that replay
 *        finds it there (I5).
 */
import { systemActor, type Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { must } from "@/lib/base/assert";
import type { StepInput } from "@/lib/statechart/step";
import { chartKeyScope, type KeyName } from "@/lib/store/concurrency";
import type { LogRow } from "@/lib/store/instances";
import type { StartInput } from "../stepping/apply-input";
import type { ControlInput } from "./apply-control";
import { controlInstance, type ControlArgs, type ControlResult, type ControlVerb } from "./control-instance";
import { findLiveInstance } from "../instances/get-instance";
import type { InstanceStatus } from "../instances/instance-views";
import { newMessageId } from "../new-id";
import { rebuildState } from "../instances/rebuild-state";
import { wrongStatus } from "../refusals";
import type { RuntimeContext } from "../runtime-context";
import type { HeldTurn } from "../stepping/in-turn";
import { failedUndoings } from "../tasks/saga-rules";
import { undoneAgain } from "../tasks/task-rules";

/** Entries since the failure: few, because a failed instance applies nothing. */
const lookBack = 50;

export function redriveInstance(
  context: RuntimeContext,
  actor: Actor,
  args: ControlArgs,
): Promise<ControlResult> {
  return redrive(context, actor, args, ["failed", "stuck"], async ({ tx, row, now }) => {
    const { id, chartId, concurrencyKey: key } = row;
    if (key === null || row.status === "stuck") return true;
    return tx.takeKey({ scope: chartKeyScope(chartId), key }, id, now);
  });
}

/** One that was redriven while another had its key, which is free now. Throws `wrong-status` when it is not its turn. */
export async function redriveQueued(
  context: RuntimeContext,
  instanceId: string,
  key: KeyName,
): Promise<void> {
  const args = { instanceId, reason: `its concurrency key ${key.key} came free` };
  await redrive(context, systemActor, args, ["queued"], async ({ tx, row, now }) => {
    if (await tx.passKey(key, instanceId, now)) return true;
    throw wrongStatus(row, "to begin", ["the first in line for a free key"]);
  });
}

/** `hasTurn`: false puts it in line for its concurrency key. */
async function redrive(
  context: RuntimeContext,
  actor: Actor,
  args: ControlArgs,
  from: readonly InstanceStatus[],
  hasTurn: (held: HeldTurn) => Promise<boolean>,
): Promise<ControlResult> {
  const verb = { verb: "redrive", from, done: [] } as const;
  requirePermission(actor, "instances:control");
  const row = await findLiveInstance(context.store, args.instanceId);
  if (!from.includes(row.status as InstanceStatus)) return controlInstance(context, actor, args, verb);
  const again =
    row.status === "stuck"
      ? undoing
      : await repetitionOf(context, await findFailed(context, args.instanceId));
  return controlInstance(context, actor, args, {
    ...verb,
    // Another redrive may come between: then this one would repeat the wrong step.
    lookedAt: row.seq,
    inputOf: async (input, held) =>
      (await hasTurn(held)) ? again.inputOf(input) : ({ ...input, queue: true } as ControlInput),
    afterEntry: (held) => (held.turn.row.status === "queued" ? undefined : again.afterEntry?.(held)),
  });
}

/** What a redrive adds to its entry, and does after it. */
interface Repetition {
  inputOf(this: void, input: ControlInput): ControlInput;
  afterEntry?: ControlVerb["afterEntry"];
}

const undoing: Repetition = {
  inputOf: (input) => ({ ...input, undo: true }) as ControlInput,
  async afterEntry({ tx, row, now }) {
    const given = failedUndoings(await tx.sagaTasks(row.id, row.incarnation));
    const tasks = await tx.lockTasks(given);
    await tx.beginTasksAnew(tasks.map((task) => undoneAgain(task, task.input, now)));
  },
};

async function findFailed({ store }: RuntimeContext, instanceId: string): Promise<LogRow> {
  const lines = await store.listLog(instanceId, null, lookBack);
  // With settings.onFailure it was undone first, and failed then.
  const line = lines.find(
    ({ outcome, status }) => outcome === "failed" && (status === "failed" || status === "compensating"),
  );
  const { seq } = must(line, `instance ${instanceId} failed at an entry`);
  return must(await store.findLogEntry(instanceId, seq), "an entry that was listed is there");
}

async function repetitionOf({ store, machines }: RuntimeContext, failed: LogRow): Promise<Repetition> {
  const given = JSON.parse(failed.input) as StartInput | StepInput | ControlInput;
  const complete = (more: object) => ({
    inputOf: (input: ControlInput): ControlInput => ({
      ...input,
      ...more,
      data: { ...input.data, failedSeq: failed.seq },
    }),
  });
  switch (given.kind) {
    case "start":
      return complete({ start: given });
    case "control":
      return complete("start" in given ? { start: given.start } : {});
    case "timer": {
      const before = await rebuildState(store, machines, failed.instanceId, failed.seq - 1);
      const timer = before?.snapshot.timers[given.id];
      return complete(timer ? { timers: { [given.id]: timer } } : {});
    }
    case "event":
      return { ...complete({}), afterEntry: ({ turn }) => turn.addFirst(repeated(failed)) };
    case "answer": {
      const before = await rebuildState(store, machines, failed.instanceId, failed.seq - 1);
      const invocation = before?.snapshot.invocations[given.id];
      return {
        ...complete(invocation ? { invocations: { [given.id]: invocation } } : {}),
        afterEntry: ({ turn }) => turn.addFirst(repeated(failed)),
      };
    }
  }
}

/** Of the time of the first try: no timer that came due since goes before it. */
const repeated = (failed: LogRow) => ({
  instanceId: failed.instanceId,
  incarnation: failed.incarnation,
  messageId: newMessageId(),
  type: failed.type,
  input: failed.input,
  actor: failed.actor,
  cause: failed.messageId,
  enqueuedAt: failed.at,
  dedupeScope: null,
  dedupeKey: null,
  expectedSeq: null,
  fences: null,
});
