/**
 * The durable runtime as one object: a verb for every call the product offers, each taking the actor that asks.
 *
 * Holds: a verb checks its permission before it reads anything; what it answers is committed. The invariants I1…I10 are
 *        in README.md.
 * Does not: know HTTP, status codes or schemas (lib/contract, lib/api).
 *
 * Arguments are one flat object (path parameters, query and body together). Optional ones may be given as undefined.
 */
import { setMaxListeners } from "node:events";
import type { Actor } from "@/lib/access/actor";
import { LockstepError } from "@/lib/base/errors";
import type { Partitions } from "@/lib/store/instances";
import type { Store } from "@/lib/store/store";
import { acquireLock } from "./locks/acquire-lock";
import { acquireLocks } from "./locks/acquire-locks";
import { Caution } from "./operations/caution";
import { ChangeFeed, type ChangeListener, type ChangesPage } from "./change-feed";
import { answerTask } from "./tasks/answer-task";
import { beatWorker } from "./operations/beat-worker";
import { cancelBatch } from "./batches/cancel-batch";
import { cancelInstance } from "./control/cancel-instance";
import { claimTasks } from "./tasks/claim-tasks";
import { completeTask } from "./tasks/complete-task";
import { countBatch } from "./batches/count-batch";
import { createBatch } from "./batches/create-batch";
import { createChart } from "./charts/create-chart";
import { createSchedule } from "./schedules/create-schedule";
import { deleteInstance } from "./instances/delete-instance";
import { deleteSchedule } from "./schedules/delete-schedule";
import { drainWorker } from "./operations/drain-worker";
import { endSession } from "./stepping/end-session";
import { failTask } from "./tasks/fail-task";
import { forkInstance } from "./control/fork-instance";
import { forceReleaseLock } from "./locks/force-release-lock";
import { getBatch } from "./batches/get-batch";
import { getChart } from "./charts/get-chart";
import { getFleet } from "./operations/get-fleet";
import { listFleet } from "./operations/list-fleet";
import { getHealth } from "./operations/get-health";
import { getReadiness } from "./operations/get-readiness";
import { getInstance } from "./instances/get-instance";
import { getLock } from "./locks/get-lock";
import { getLockLog } from "./locks/get-lock-log";
import { getLog } from "./instances/get-log";
import { getLogEntry } from "./instances/get-log-entry";
import { getMessage } from "./instances/get-message";
import { getSchedule } from "./schedules/get-schedule";
import { getState } from "./instances/get-state";
import { getVersion } from "./charts/get-version";
import { heartbeatTask } from "./tasks/heartbeat-task";
import type { Invocations } from "./tasks/invocation";
import { busyWaitMs, ownSlots } from "./limits";
import { listBatches } from "./batches/list-batches";
import { listBatchItems } from "./batches/list-batch-items";
import { listCharts } from "./charts/list-charts";
import { listChildren } from "./tasks/list-children";
import { listDeadLetters } from "./control/list-dead-letters";
import { listInstances } from "./instances/list-instances";
import { listLocks } from "./locks/list-locks";
import { listOpenTasks } from "./tasks/list-open-tasks";
import { listAudit } from "./operations/list-audit";
import { listRetention } from "./operations/list-retention";
import { listSchedules } from "./schedules/list-schedules";
import { listTasks } from "./tasks/list-tasks";
import { listTicks } from "./schedules/list-ticks";
import { listWorkers } from "./operations/list-workers";
import { LockBreaker, lockBreakerName } from "./locks/lock-breaker";
import { LockWaits } from "./locks/lock-waits";
import { logRejectedWrites } from "./locks/log-rejected-writes";
import { Machines } from "./charts/machines";
import { migrateInstance } from "./control/migrate-instance";
import { mournWorkers } from "./operations/mourn-workers";
import { newTaskToken, newWorkerId } from "./new-id";
import { openSession } from "./stepping/open-session";
import { previewRetention } from "./operations/preview-retention";
import { pauseSchedule } from "./schedules/pause-schedule";
import { publishVersion } from "./charts/publish-version";
import { redriveInstance } from "./control/redrive-instance";
import { releaseLock } from "./locks/release-lock";
import { releaseTask } from "./tasks/release-task";
import { renewLock } from "./locks/renew-lock";
import { renewSession } from "./stepping/renew-session";
import { resetBreaker } from "./operations/reset-breaker";
import { resetInstance } from "./control/reset-instance";
import { resumeBatch } from "./batches/resume-batch";
import { resumeInstance } from "./control/resume-instance";
import { resumeSchedule } from "./schedules/resume-schedule";
import { retryDeadLetter } from "./control/retry-dead-letter";
import { runSchedule } from "./schedules/run-schedule";
import type { RuntimeContext } from "./runtime-context";
import { saveDraft } from "./charts/save-draft";
import { sendEvent } from "./stepping/send-event";
import { sendEvents } from "./stepping/send-events";
import { SendQueue } from "./stepping/send-queue";
import { setRetention } from "./operations/set-retention";
import { startInstance } from "./instances/start-instance";
import type { BatchResult } from "./stepping/step-batch";
import { suspendInstance } from "./control/suspend-instance";
import { takeTask } from "./tasks/take-task";
import { terminateInstance } from "./control/terminate-instance";
import { updateSchedule } from "./schedules/update-schedule";
import { WorkerOrders, type Breakers } from "./operations/worker-orders";
import { Presence } from "./operations/worker-registry";
import { beginQueued } from "./workers/begin-queued";
import { CircleBreaker } from "./workers/break-circles";
import { fairnessDefault, type Fairness } from "./workers/choose-runnable";
import { countFleet, FleetCounter } from "./workers/count-fleet";
import { TaskWaits } from "./tasks/task-waits";
import { Turnstile } from "./turnstile";
import { fireSchedules } from "./workers/fire-schedules";
import { purgeDue, Purger } from "./workers/purge-old";
import { runBatches } from "./workers/run-batches";
import { settleChildren } from "./workers/settle-children";
import { settleLocks } from "./workers/settle-locks";
import { TaskRunner } from "./workers/run-tasks";
import { settleSagas, type SagaWalk } from "./workers/settle-sagas";
import { settleTasks } from "./workers/settle-tasks";
import { stepWaiting, type Walk } from "./workers/step-waiting";
import { startWorkLoops, type Rounds, type WorkLoops } from "./workers/work-loops";

const verbs = {
  listCharts,
  createChart,
  getChart,
  saveDraft,
  publishVersion,
  getVersion,
  listInstances,
  startInstance,
  getInstance,
  deleteInstance,
  suspendInstance,
  resumeInstance,
  cancelInstance,
  terminateInstance,
  redriveInstance,
  forkInstance,
  resetInstance,
  migrateInstance,
  listDeadLetters,
  retryDeadLetter,
  sendEvent,
  sendEvents,
  openSession,
  renewSession,
  endSession,
  getMessage,
  getState,
  getLog,
  getLogEntry,
  listLocks,
  getLock,
  getLockLog,
  acquireLock,
  acquireLocks,
  renewLock,
  releaseLock,
  forceReleaseLock,
  listTasks,
  listChildren,
  listOpenTasks,
  takeTask,
  answerTask,
  claimTasks,
  heartbeatTask,
  completeTask,
  failTask,
  releaseTask,
  countBatch,
  createBatch,
  listBatches,
  getBatch,
  listBatchItems,
  cancelBatch,
  resumeBatch,
  listSchedules,
  createSchedule,
  getSchedule,
  updateSchedule,
  deleteSchedule,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  listTicks,
  listWorkers,
  beatWorker,
  drainWorker,
  resetBreaker,
  getFleet,
  listFleet,
  listAudit,
  listRetention,
  setRetention,
  previewRetention,
  getHealth,
  getReadiness,
};
type Verbs = typeof verbs;

/** Every verb, bound to its runtime: `runtime.sendEvent(actor, args)`. */
type BoundVerbs = {
  [Name in keyof Verbs]: (actor: Actor, args: Parameters<Verbs[Name]>[2]) => ReturnType<Verbs[Name]>;
};

export interface Runtime extends BoundVerbs {
  /** Committed changes after `position` (null: from now on), oldest first, at most `limit`. Positions are opaque. */
  changesSince(position: string | null, limit: number): Promise<ChangesPage>;
  /**
   * Calls `listener` with every change committed from now on, by this process or another (those within 500 ms), in
   * position order. Returns the way to stop.
   */
  subscribe(listener: ChangeListener): () => void;
  /** Starts the loops that step waiting mailboxes, fire timers and expire leases of locks and tasks. Idempotent. */
  startWorkers(): void;
  /**
   * What startWorkers() does all the time, once: steps what waits, fires what is due, carries out tasks. True when anything
   * was done. For who drives time by hand; not beside startWorkers().
   */
  workOnce(): Promise<boolean>;
  /**
   * What startWorkers() does from time to time beside that work: counts the fleet, finds lost workers, forgets what was kept
   * for its time. For who drives time by hand.
   */
  tidyOnce(): Promise<void>;
  /** Finishes the steps under way, ends waiting calls with `shutting-down`, stops loops, closes the store. */
  close(): Promise<void>;
}

export interface RuntimeOptions {
  /** Opened and migrated; the runtime closes it. */
  store: Store;
  /** Told what went wrong in the background, where no caller hears of it. */
  report: (error: unknown) => void;
  /** What startWorkers() carries out by itself; default: nothing. */
  invocations?: Invocations;
  /** Where instances that are purged by an archiving rule are written to. */
  archiveFolder?: string;
  /** Those whose instances startWorkers() steps and whose tasks it carries out; default: all. */
  partitions?: Partitions;
  /** Tasks that it carries out at once by itself; default: ownSlots. */
  slots?: number;
  /** How its claims, and those it answers, are divided. */
  fairness?: Fairness;
}

/** Beside the database of a first start. */
const archiveFolderDefault = ".lockstep/archive";

export function createRuntime({
  store,
  report: tell,
  invocations = noInvocations,
  archiveFolder = archiveFolderDefault,
  partitions,
  slots = ownSlots,
  fairness = fairnessDefault,
}: RuntimeOptions): Runtime {
  const closing = new AbortController();
  // A round that the end comes in the middle of is no fault.
  const report = (error: unknown) => {
    if (!(closing.signal.aborted && error instanceof LockstepError && error.code === "shutting-down"))
      tell(error);
  };
  // Every call that waits listens to it.
  setMaxListeners(0, closing.signal);
  const machines = new Machines(store);
  let loops: WorkLoops | null = null;
  const walk: Walk = { after: "", partitions };
  const wake = () => loops?.hint("steps");
  const settle = () => loops?.hint("tasks", "children", "sagas");
  const afterBatch = async (result: BatchResult) => {
    context.sends.noteBatch(result);
    if (result.leftWork) wake();
    if (result.leftChildren) settle();
    await logRejectedWrites(store, result.rejected).catch(report);
  };
  const workerId = newWorkerId();
  const session = newTaskToken();
  const caution = new Caution(store, { workerId, session });
  const lockBreaker = new LockBreaker();
  const context: RuntimeContext = {
    store,
    machines,
    sends: new SendQueue(store, machines, caution, afterBatch),
    lockWaits: new LockWaits(store, machines, closing.signal),
    lockBreaker,
    turnstile: new Turnstile(busyWaitMs),
    taskWaits: new TaskWaits(store, closing.signal, fairness),
    fairness,
    closing: closing.signal,
    wake,
    settle,
  };
  const sagaWalk: SagaWalk = { after: null };
  const share = partitions ? `${partitions.from}-${partitions.to}` : null;
  const breakers: Breakers = {
    list: () => [...lockBreaker.list(), ...invocations.breakers()],
    reset: (name) => (name === lockBreakerName ? lockBreaker.reset() : invocations.resetBreaker(name)),
  };
  const orders = new WorkerOrders(store, { workerId, session, partitions: share }, breakers, () => {
    wake();
    presence.beatSoon();
  });
  const tasks = new TaskRunner(context, invocations, {
    workerId,
    slots,
    report,
    partitions,
    isDraining: () => orders.draining,
  });
  const presence = new Presence(store, caution, () => ({
    workerId,
    session,
    kind: "runtime",
    types: tasks.types,
    slots,
    running: tasks.running,
    draining: orders.draining,
    note: invocations.note() ?? undefined,
  }));
  const rounds: Rounds = {
    steps: () => stepWaiting(context, walk, caution, afterBatch),
    tasks: async () => {
      const more = await settleTasks(store, wake);
      return (await beginQueued(context, report)) || more;
    },
    children: () => settleChildren(context, report),
    sagas: () => settleSagas(context, sagaWalk, report),
    locks: () => settleLocks(store),
    schedules: () => fireSchedules(context, report),
    batches: () => runBatches(context, report),
  };
  const fleet = new FleetCounter(store, machines);
  const circles = new CircleBreaker(store, machines, wake);
  const purge = { workerId, archiveFolder };
  const purger = new Purger(context, purge);
  const feed = new ChangeFeed(store, closing.signal, report);
  let closed: Promise<void> | null = null;

  const underWay = new Set<Promise<unknown>>();
  return {
    ...bind(context, underWay),
    changesSince: (position, limit) => feed.since(position, limit),
    subscribe: (listener) => feed.subscribe(listener),
    startWorkers() {
      if (loops || closing.signal.aborted) return;
      feed.start();
      tasks.start();
      const steps = async () => {
        await presence.whenBegun;
        return orders.draining ? false : rounds.steps();
      };
      loops = startWorkLoops(
        store,
        { ...rounds, steps },
        [fleet, circles, purger, presence, orders].map((each) => () => each.round()),
        report,
      );
      store.onCommit((where) => {
        if (where === "here") return;
        wake();
        settle();
      });
    },
    async workOnce() {
      const head = async () => (await store.changesSince(null, 1)).position;
      const before = await head();
      for (const round of Object.values(rounds)) await round();
      // A claim is a transaction also when there is nothing to claim.
      const idle = await head();
      return (await tasks.runOnce()) > 0 || idle !== before;
    },
    async tidyOnce() {
      await store.transaction(async (tx) => mournWorkers(tx, await tx.now()));
      while (await countFleet(store, machines));
      await purgeDue(context, purge);
    },
    close() {
      closed ??= (async () => {
        await tasks.stop();
        closing.abort();
        await loops?.stop();
        await Promise.allSettled(underWay);
        await context.sends.idle();
        await feed.idle();
        await presence.end().catch(report);
        await store.close();
      })();
      return closed;
    },
  };
}

const noInvocations: Invocations = {
  byType: {},
  note: () => null,
  breakers: () => [],
  resetBreaker: () => undefined,
};

/** `underWay`: the calls that close() waits for. */
function bind(context: RuntimeContext, underWay: Set<Promise<unknown>>): BoundVerbs {
  const bound = Object.entries(verbs).map(([name, verb]) => {
    const call = verb as (context: RuntimeContext, actor: Actor, args: never) => Promise<unknown>;
    const tracked = (actor: Actor, args: never): Promise<unknown> => {
      // async: a refusal is a rejected promise, also one made before the verb waits for anything.
      const running = (async () => call(context, actor, args))();
      underWay.add(running);
      const done = () => underWay.delete(running);
      running.then(done, done);
      return running;
    };
    return [name, tracked];
  });
  return Object.fromEntries(bound) as BoundVerbs;
}
