/**
 * A failed instance taken up again from the step that failed it: the same message, timer or answer first, then what waited
 * behind it. One whose very start failed begins anew. A stuck one goes on undoing: what could not be undone is tried again,
 * with as many attempts as at first. One whose concurrency key another has waits in line for it.
 *
 * Holds: what the failed step had used up (a timer, an invocation) is put back by the control entry itself, so that replay
 *        finds it there (I5).
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { assert } from "@/lib/base/assert";
import type { StepInput } from "@/lib/statechart/step";
import { chartKeyScope } from "@/lib/store/concurrency";
import type { InstanceRow, LogRow, MessageRow } from "@/lib/store/instances";
import type { StartInput } from "../stepping/apply-input";
import type { ControlInput } from "./apply-control";
import { controlInstance, type ControlArgs, type ControlResult, type ControlVerb } from "./control-instance";
import { findLiveInstance } from "../instances/get-instance";
import { newMessageId } from "../new-id";
import { rebuildState } from "../instances/rebuild-state";
import { sequenceConflict } from "../refusals";
import type { RuntimeContext } from "../runtime-context";
import type { Repetition, Then } from "../stepping/in-line";
import type { HeldTurn } from "../stepping/in-turn";
import { holdTasks } from "../stepping/step-batch";
import { failedUndoings } from "../tasks/saga-rules";
import { undoneAgain } from "../tasks/task-rules";

/** Entries since the failure: few, because a failed instance applies nothing. */
const lookBack = 50;

export async function redriveInstance(
  context: RuntimeContext,
  actor: Actor,
  args: ControlArgs,
): Promise<ControlResult> {
  const verb = { verb: "redrive", from: ["failed", "stuck"], done: [] } as const;
  requirePermission(actor, "instances:control");
  const row = await findLiveInstance(context.store, args.instanceId);
  // It may fail, or be redriven, between: then this one would repeat no step, or the wrong one.
  const looked = { ...verb, lookedAt: row.seq };
  if (row.status === "stuck") return controlInstance(context, actor, args, { ...looked, ...undoing });
  if (row.status !== "failed") return controlInstance(context, actor, args, looked);
  const failed = await findFailed(context, row);
  const repetitionOf = await lookForRepetition(context, failed);
  let first: MessageRow | null = null;
  return controlInstance(context, actor, args, {
    ...looked,
    async inputOf(plain, held) {
      const repetition = repetitionOf(plain);
      const then: Then = { kind: "redrive", actor: actor.id, ...repetition };
      const mine = await takeKeyAgain(held, JSON.stringify(then));
      first = mine ? repetition.first : null;
      return mine ? repetition.input : ({ ...plain, queue: true } as ControlInput);
    },
    afterEntry({ turn }) {
      if (first) turn.addFirst(first);
    },
  });
}

/** A failed one has given its concurrency key up. False: another has it, and this one stands in line. */
async function takeKeyAgain({ tx, row, now }: HeldTurn, then: string): Promise<boolean> {
  const { id, chartId, concurrencyKey: key } = row;
  if (key === null) return true;
  await holdTasks(tx, [row]);
  return tx.takeKey({ scope: chartKeyScope(chartId), key }, id, now, then);
}

const undoing: Pick<ControlVerb, "inputOf" | "afterEntry"> = {
  inputOf: (input) => ({ ...input, undo: true }) as ControlInput,
  async afterEntry({ tx, row, now }) {
    const given = failedUndoings(await tx.sagaTasks(row.id, row.incarnation));
    const tasks = await tx.lockTasks(given);
    await tx.beginTasksAnew(tasks.map((task) => undoneAgain(task, task.input, now)));
  },
};

/** Throws `not-found`, `sequence-conflict`: it was forgotten meanwhile, or has moved on and its log was cut. */
async function findFailed({ store }: RuntimeContext, { id, seq }: InstanceRow): Promise<LogRow> {
  const lines = await store.listLog(id, null, lookBack);
  // With settings.onFailure it was undone first, and failed then.
  const line = lines.find(
    ({ outcome, status }) => outcome === "failed" && (status === "failed" || status === "compensating"),
  );
  const entry = line && (await store.findLogEntry(id, line.seq));
  if (entry) return entry;
  const now = await findLiveInstance(store, id);
  assert(now.seq !== seq, `instance ${id} failed at an entry`);
  throw sequenceConflict({ expectedSeq: seq }, now);
}

async function lookForRepetition(
  { store, machines }: RuntimeContext,
  failed: LogRow,
): Promise<(plain: ControlInput) => Repetition> {
  const given = JSON.parse(failed.input) as StartInput | StepInput | ControlInput;
  const complete =
    (more: object, first: MessageRow | null = null) =>
    (plain: ControlInput): Repetition => ({
      input: { ...plain, ...more, data: { ...plain.data, failedSeq: failed.seq } },
      first,
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
      return complete({}, repeated(failed));
    case "answer": {
      const before = await rebuildState(store, machines, failed.instanceId, failed.seq - 1);
      const invocation = before?.snapshot.invocations[given.id];
      return complete(invocation ? { invocations: { [given.id]: invocation } } : {}, repeated(failed));
    }
  }
}

/** Of the time of the first try: no timer that came due since goes before it. */
const repeated = (failed: LogRow): MessageRow => ({
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
