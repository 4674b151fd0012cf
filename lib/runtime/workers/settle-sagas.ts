/**
 * Takes instances that are undoing from one compensation to the next, and out of it when there is none left.
 *
 * Holds: I9 what is next is read from the tasks, under the instance's row: a crash anywhere goes on where it was. An undoing
 *        that has used up its attempts leaves the instance `stuck`, where everybody sees it.
 */
import { systemActor } from "@/lib/access/actor";
import type { Compensation } from "@/lib/statechart/effect";
import { compensationInput } from "@/lib/statechart/compensation-input";
import type { InstanceCursor } from "@/lib/store/instances";
import type { Store } from "@/lib/store/store";
import type { TaskRow } from "@/lib/store/tasks";
import { isEnded, type InstanceStatus } from "../instances/instance-views";
import { internalMessage } from "../stepping/internal-message";
import { inTurn, type HeldTurn } from "../stepping/in-turn";
import { isGone } from "../refusals";
import type { RuntimeContext } from "../runtime-context";
import type { TaskError } from "../tasks/task-rules";
import { canUndoBy, nextOfSaga, undoTask, type SagaStep } from "../tasks/saga-rules";

const instancesMax = 100;

/** Where the walk over all of them goes on. */
export interface SagaWalk {
  after: InstanceCursor | null;
}

/** True when there may be more. */
export async function settleSagas(
  context: RuntimeContext,
  walk: SagaWalk,
  report: (error: unknown) => void,
): Promise<boolean> {
  const { store } = context;
  const rows = await store.listInstances({ status: "compensating" }, walk.after, instancesMax);
  const last = rows.at(-1);
  walk.after = last && rows.length === instancesMax ? { createdAt: last.createdAt, id: last.id } : null;
  let done = 0;
  for (const { id: instanceId, incarnation } of rows) {
    try {
      const tasks = await store.sagaTasks(instanceId, incarnation);
      if (nextOfSaga(tasks, await store.now()).do === "wait") continue;
      const cancelling = await wasCancelled(context.store, instanceId);
      const work = (held: HeldTurn) => goOn(held, cancelling);
      await inTurn(context, { verb: "compensate", actor: systemActor, args: { instanceId }, work });
      done += 1;
    } catch (error) {
      if (!isGone(error)) report(error);
    }
  }
  return done > 0 || walk.after !== null;
}

/** As far back as a chart that cleans up goes. */
const entriesMax = 1_000;

/** It undoes since it was cancelled: then that is how it ends. */
async function wasCancelled(store: Store, instanceId: string): Promise<boolean> {
  const entries = await store.listLog(instanceId, null, entriesMax);
  return entries.some(({ kind, type }) => kind === "control" && type === "cancel");
}

async function goOn(held: HeldTurn, cancelling: boolean): Promise<() => { replayed: boolean }> {
  const { tx, row, now } = held;
  const answer = () => ({ replayed: false });
  if (row.status !== "compensating") return answer;
  const next = nextOfSaga(await tx.sagaTasks(row.id, row.incarnation), now);
  if (next.do === "undo") undo(held, next);
  else if (next.do === "stuck") stick(held, next.task.invokeId, reasonOf(next.task));
  else if (next.do === "done") finish(held, next.undone, cancelling);
  return answer;
}

/** Its last attempt's. */
const reasonOf = ({ error }: TaskRow): string =>
  error === null ? "its attempts are used up" : (JSON.parse(error) as TaskError).message;

function undo(held: HeldTurn, { task, deed }: Extract<SagaStep, { do: "undo" }>): void {
  const { row, now, machine, turn, writes } = held;
  const compensation = JSON.parse(task.compensate ?? "") as Compensation;
  if (!canUndoBy(compensation.src))
    return stick(held, task.invokeId, `${compensation.src} can't be a compensation`);
  const made = compensationInput(machine, turn.snapshot.session, compensation, deed, now);
  if ("error" in made) stick(held, task.invokeId, made.error.message);
  else writes.tasksBegun.push(undoTask(row, task, compensation, made.input, now));
}

const bySystem = { actor: systemActor.id };

/** With the error where lists and pages show it. */
function stick(held: HeldTurn, undoing: string, reason: string): void {
  held.turn.control({ kind: "control", verb: "stick", data: { undoing, reason } }, bySystem);
  const errorMessage = `what ${undoing} did could not be undone: ${reason}`;
  held.turn.row = { ...held.turn.row, errorCode: "compensation-failed", errorMessage };
}

function finish(held: HeldTurn, undone: number, cancelling: boolean): void {
  const { row, turn, now } = held;
  const ends: Partial<Record<InstanceStatus, InstanceStatus>> = {
    completed: "cancelled",
    running: "cancelling",
  };
  const statusAfter = (status: InstanceStatus) => (cancelling ? (ends[status] ?? status) : status);
  turn.control({ kind: "control", verb: "compensated", data: { undone } }, bySystem, statusAfter);
  if (isEnded(turn.row.status) || turn.snapshot.status !== "running") return;
  turn.add(internalMessage(row.id, row, { type: "done.compensate", data: { undone } }, now));
}
