/**
 * Begins the instances that invocations of `chart` and `each` ask for (and has locks of states granted), and cancels those that
 * nobody waits for any more: at once those whose parent was ended so.
 *
 * Holds: I9 a child begins in the transaction that marks its task, held, as begun: exactly once. A family that was left
 *        begins nobody: who leaves it writes its task first.
 */
import { systemActor } from "@/lib/access/actor";
import { isLasting, LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import { instanceKeys } from "@/lib/statechart/instance-keys";
import { familyOf, type ChildRow, type ParentRef } from "@/lib/store/children";
import { noWrites, type StepWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import type { TaskRow } from "@/lib/store/tasks";
import { afterEnds, over, type EndedChild } from "../tasks/answer-parents";
import { beginInstance } from "../instances/begin-instance";
import {
  decide,
  endedChild,
  endOf,
  joinedOutput,
  progressOf,
  readChartRequest,
  readEachRequest,
  roomOf,
  withProgress,
  type EachProgress,
} from "../tasks/child-rules";
import { childrenBegunMax } from "../limits";
import { withMachines, type VersionName } from "../charts/machines";
import { newInstanceId } from "../new-id";
import { isGone } from "../refusals";
import type { RuntimeContext } from "../runtime-context";
import { chooseVersion } from "../instances/start-instance";
import { postOutgoing } from "../stepping/step-batch";
import { earliestOf, overallOf, retryOf, taskName, timeUp, type TaskError } from "../tasks/task-rules";
import { cancelInstance } from "../control/cancel-instance";
import { terminateInstance } from "../control/terminate-instance";
import { grantReadyStates, settleLockTask } from "./settle-state-locks";
import type { Turn } from "../stepping/turn";

const familiesMax = 20;
const orphansMax = 100;

/** True when there may be more. */
export async function settleChildren(
  context: RuntimeContext,
  report: (error: unknown) => void,
): Promise<boolean> {
  const { store } = context;
  const due = await store.findDueFamilies(await store.now(), familiesMax);
  let done = 0;
  for (const task of due) {
    try {
      if (task.kind === "lock") await settleLockTask(store, task);
      else await beginFamily(context, task);
      done += 1;
    } catch (error) {
      report(error);
    }
  }
  if (await grantReadyStates(store)) done += 1;
  for (const { childId: instanceId, atOnce } of await store.findOrphans(orphansMax)) {
    try {
      const why = { instanceId, reason: "the state that invoked it was left" };
      if (atOnce) await terminateInstance(context, systemActor, why);
      else await cancelInstance(context, systemActor, why);
      done += 1;
    } catch (error) {
      // It ended, or was deleted, since it was looked for.
      if (!isGone(error)) report(error);
    }
  }
  if (done > 0) context.wake();
  return done > 0;
}

/** A child that can't begin with what it is given ends the invocation. */
async function beginFamily(context: RuntimeContext, task: TaskRow): Promise<void> {
  try {
    await settleFamily(context, task);
  } catch (error) {
    if (!(error instanceof LockstepError) || error.code !== "bad-request") throw error;
    await settleFamily(context, task, { code: "bad-input", message: error.message });
  }
}

async function settleFamily(context: RuntimeContext, seen: TaskRow, refused?: TaskError): Promise<void> {
  const wanted = refused ? { error: refused } : await wantedVersion(context, seen);
  await withMachines(context.machines, () =>
    context.store.transaction(async (tx) => {
      const id = "id" in wanted ? wanted.id : undefined;
      // Lock order: a child whose id the chart gives may have had a life before.
      const [before] = id === undefined ? [] : await tx.lockInstances([id]);
      const [task] = await tx.lockTasks([seen]);
      const now = await tx.now();
      if (!task || task.dueAt === null || task.dueAt > now) return;
      const writes = noWrites();
      const family = new Family(context, tx, task, writes, now);
      if ("error" in wanted) await family.fail(wanted.error);
      else if (family.isTimeUp()) await family.fail(family.timeUp());
      else if (task.status === "pending") {
        if (before && before.deletedAt === null)
          await family.fail({
            code: "instance-exists",
            message: `there is an instance ${before.id} already`,
          });
        else if ("progress" in wanted) await family.beginEach(wanted.progress);
        else await family.beginChart(wanted.version, wanted.id, wanted.input, before);
      } else await family.beginNext();
      await postOutgoing(tx, family.turns, writes);
      await tx.writeSteps(writes);
    }),
  );
}

type Wanted =
  | { error: TaskError }
  | { version: VersionName; id: string | undefined; input: Json }
  | { progress: EachProgress };

/** What a new family needs that is read before its transaction; of one that has begun, nothing. */
async function wantedVersion(context: RuntimeContext, task: TaskRow): Promise<Wanted> {
  const input = JSON.parse(task.input) as Json;
  const read = task.kind === "chart" ? readChartRequest(input) : readEachRequest(input);
  if ("error" in read) return read;
  const { chartId, version } = read.request;
  if (task.status !== "pending") return { progress: progressOf(task) };
  try {
    const chosen = await chooseVersion(context, { chartId, version });
    if (!("items" in read.request)) return { ...read.request, version: chosen };
    const { items, cap, need, onFailed } = read.request;
    const counts = { total: items.length, started: 0, succeeded: 0, failed: 0 };
    return { progress: { ...chosen, cap, need, onFailed, ...counts } };
  } catch (error) {
    if (!isLasting(error)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

/** One family's part of a transaction; its task is held. */
class Family {
  readonly turns: Turn[] = [];

  constructor(
    private readonly context: RuntimeContext,
    private readonly tx: StoreTransaction,
    private readonly task: TaskRow,
    private readonly writes: StepWrites,
    private readonly now: number,
  ) {}

  isTimeUp(): boolean {
    const until = deadlineOf(this.task);
    return until !== null && until <= this.now;
  }

  timeUp(): TaskError {
    if (this.task.status === "pending") return timeUp(this.task);
    return { code: "timeout", message: "the children took longer than their invocation may" };
  }

  /** Those that have begun are left. */
  fail(error: TaskError): Promise<void> {
    if (this.task.status !== "pending") this.writes.childrenLeft.push(familyOf(this.task));
    return this.tx.writeTasks([over(this.task, { error }, systemActor.id, this.writes, this.now)]);
  }

  async beginChart(
    version: VersionName,
    id: string | undefined,
    input: Json,
    tombstone: Parameters<typeof beginInstance>[4],
  ): Promise<void> {
    const childId = id ?? newInstanceId(version.chartId);
    const task = { ...this.begun(), progress: JSON.stringify({ instanceId: childId }) };
    const ended = await this.begin(version, childId, 0, input, tombstone);
    await this.tx.writeTasks([await afterEnds(this.tx, task, ended, this.writes, this.now)]);
  }

  async beginEach(progress: EachProgress): Promise<void> {
    const task = withProgress(this.begun(), progress, this.now);
    const verdict = decide(progress, null);
    if (verdict === "open") return this.beginNextOf(task);
    const end = verdict === "done" ? joinedOutput([], progress.total) : { error: verdict };
    await this.tx.writeTasks([over(task, end, systemActor.id, this.writes, this.now)]);
  }

  beginNext(): Promise<void> {
    return this.beginNextOf(this.task);
  }

  private async beginNextOf(task: TaskRow): Promise<void> {
    const { items } = JSON.parse(task.input) as { items: Json[] };
    const before = progressOf(task);
    const many = Math.min(roomOf(before), childrenBegunMax);
    const ended: EndedChild[] = [];
    for (const place of this.inKeyOrder(before, items.slice(before.started, before.started + many))) {
      const id = newInstanceId(before.chartId);
      ended.push(...(await this.begin(before, id, place, items[place] ?? null, undefined)));
    }
    const progress = { ...before, started: before.started + many };
    const dueAt = roomOf(progress) > 0 ? this.now : deadlineOf(task);
    const after = { ...withProgress(task, progress, this.now), dueAt };
    await this.tx.writeTasks([await afterEnds(this.tx, after, ended, this.writes, this.now)]);
  }

  /** The places of the next children: keys are taken in one order by all, or two families would wait for each other. */
  private inKeyOrder(progress: EachProgress, next: readonly Json[]): number[] {
    const machine = this.context.machines.get(progress);
    const keyOf = (input: Json): string =>
      machine.keys.concurrencyKey === null
        ? ""
        : (instanceKeys(machine, { id: "", input }, this.now).keys.concurrencyKey ?? "");
    return next
      .map((input, index) => ({ place: progress.started + index, key: keyOf(input) }))
      .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)) || a.place - b.place)
      .map(({ place }) => place);
  }

  /** The task as its first child finds it. */
  private begun(): TaskRow {
    const { task, now } = this;
    const begun = {
      ...task,
      status: "running",
      attempt: 1,
      attemptUntil: task.timeoutMs === null ? null : now + task.timeoutMs,
      overallUntil: task.overallUntil ?? overallOf(retryOf(task), now),
      startedAt: now,
      updatedAt: now,
    };
    return { ...begun, dueAt: deadlineOf(begun) };
  }

  /** A child; with its end, when it had nothing to wait for. */
  private async begin(
    { chartId, version }: VersionName,
    id: string,
    place: number,
    input: Json,
    tombstone: Parameters<typeof beginInstance>[4],
  ): Promise<EndedChild[]> {
    const { task, writes, now } = this;
    const { instanceId, incarnation, taskId } = task;
    const parent: ParentRef = { instanceId, incarnation, taskId, place };
    const cause = { actor: `instance:${instanceId}`, cause: taskName(task), dedupeKey: null };
    const begun = { id, chartId, version, input, priority: task.priority, businessKey: null, parent };
    const machine = this.context.machines.get({ chartId, version });
    const turn = await beginInstance(this.tx, machine, { ...begun, ...cause }, now, tombstone, writes);
    this.turns.push(turn);
    const row: ChildRow = {
      ...familyOf(task),
      place,
      childId: id,
      status: "running",
      result: null,
      error: null,
    };
    const { ending } = turn;
    const end = ending && endOf(ending.row, ending.output);
    writes.childrenBegun.push(end ? endedChild(row, end) : row);
    return end ? [{ row: endedChild(row, end), end }] : [];
  }
}

/** When its time is over, whatever its children do. */
const deadlineOf = ({ attemptUntil, overallUntil }: TaskRow): number | null =>
  earliestOf([attemptUntil, overallUntil]);
