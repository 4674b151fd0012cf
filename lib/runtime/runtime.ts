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
import type { Partitions } from "@/lib/store/instances";
import type { Store } from "@/lib/store/store";
import { acquireLock } from "./acquire-lock";
import { Caution } from "./caution";
import { ChangeFeed, type ChangeListener, type ChangesPage } from "./change-feed";
import { answerTask } from "./answer-task";
import { beatWorker } from "./beat-worker";
import { cancelBatch } from "./cancel-batch";
import { cancelInstance } from "./cancel-instance";
import { claimTasks } from "./claim-tasks";
import { completeTask } from "./complete-task";
import { countBatch } from "./count-batch";
import { createBatch } from "./create-batch";
import { createChart } from "./create-chart";
import { createSchedule } from "./create-schedule";
import { deleteInstance } from "./delete-instance";
import { deleteSchedule } from "./delete-schedule";
import { drainWorker } from "./drain-worker";
import { endSession } from "./end-session";
import { failTask } from "./fail-task";
import { forkInstance } from "./fork-instance";
import { forceReleaseLock } from "./force-release-lock";
import { getBatch } from "./get-batch";
import { getChart } from "./get-chart";
import { getFleet } from "./get-fleet";
import { getHealth } from "./get-health";
import { getInstance } from "./get-instance";
import { getLock } from "./get-lock";
import { getLockLog } from "./get-lock-log";
import { getLog } from "./get-log";
import { getLogEntry } from "./get-log-entry";
import { getMessage } from "./get-message";
import { getSchedule } from "./get-schedule";
import { getState } from "./get-state";
import { getVersion } from "./get-version";
import { heartbeatTask } from "./heartbeat-task";
import type { Invocations } from "./invocation";
import { ownSlots } from "./limits";
import { listBatches } from "./list-batches";
import { listBatchItems } from "./list-batch-items";
import { listCharts } from "./list-charts";
import { listChildren } from "./list-children";
import { listDeadLetters } from "./list-dead-letters";
import { listInstances } from "./list-instances";
import { listLocks } from "./list-locks";
import { listOpenTasks } from "./list-open-tasks";
import { listRetention } from "./list-retention";
import { listSchedules } from "./list-schedules";
import { listTasks } from "./list-tasks";
import { listTicks } from "./list-ticks";
import { listWorkers } from "./list-workers";
import { LockWaits } from "./lock-waits";
import { logRejectedWrites } from "./log-rejected-writes";
import { Machines } from "./machines";
import { migrateInstance } from "./migrate-instance";
import { newTaskToken, newWorkerId } from "./new-id";
import { openSession } from "./open-session";
import { previewRetention } from "./preview-retention";
import { pauseSchedule } from "./pause-schedule";
import { publishVersion } from "./publish-version";
import { redriveInstance } from "./redrive-instance";
import { releaseLock } from "./release-lock";
import { releaseTask } from "./release-task";
import { renewLock } from "./renew-lock";
import { renewSession } from "./renew-session";
import { resetBreaker } from "./reset-breaker";
import { resetInstance } from "./reset-instance";
import { resumeBatch } from "./resume-batch";
import { resumeInstance } from "./resume-instance";
import { resumeSchedule } from "./resume-schedule";
import { retryDeadLetter } from "./retry-dead-letter";
import { runSchedule } from "./run-schedule";
import type { RuntimeContext } from "./runtime-context";
import { saveDraft } from "./save-draft";
import { sendEvent } from "./send-event";
import { sendEvents } from "./send-events";
import { SendQueue } from "./send-queue";
import { setRetention } from "./set-retention";
import { startInstance } from "./start-instance";
import type { BatchResult } from "./step-batch";
import { suspendInstance } from "./suspend-instance";
import { takeTask } from "./take-task";
import { terminateInstance } from "./terminate-instance";
import { updateSchedule } from "./update-schedule";
import { WorkerOrders } from "./worker-orders";
import { Presence } from "./worker-registry";
import { FleetCounter } from "./workers/count-fleet";
import { TaskWaits } from "./task-waits";
import { fireSchedules } from "./workers/fire-schedules";
import { Purger } from "./workers/purge-old";
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
  listRetention,
  setRetention,
  previewRetention,
  getHealth,
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
}

/** Beside the database of a first start. */
const archiveFolderDefault = ".lockstep/archive";

export function createRuntime({
  store,
  report,
  invocations = noInvocations,
  archiveFolder = archiveFolderDefault,
  partitions,
}: RuntimeOptions): Runtime {
  const closing = new AbortController();
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
  const context: RuntimeContext = {
    store,
    machines,
    sends: new SendQueue(store, machines, caution, afterBatch),
    lockWaits: new LockWaits(store, closing.signal),
    taskWaits: new TaskWaits(store, closing.signal),
    closing: closing.signal,
    wake,
    settle,
  };
  const sagaWalk: SagaWalk = { after: null };
  const share = partitions ? `${partitions.from}-${partitions.to}` : null;
  const orders = new WorkerOrders(store, { workerId, session, partitions: share }, invocations, () => {
    wake();
    presence.beatSoon();
  });
  const tasks = new TaskRunner(context, invocations, {
    workerId,
    slots: ownSlots,
    report,
    partitions,
    isDraining: () => orders.draining,
  });
  const presence = new Presence(store, caution, () => ({
    workerId,
    session,
    kind: "runtime",
    types: tasks.types,
    slots: ownSlots,
    running: tasks.running,
    draining: orders.draining,
    note: invocations.note() ?? undefined,
  }));
  const rounds: Rounds = {
    steps: () => stepWaiting(context, walk, caution, afterBatch),
    tasks: () => settleTasks(store, wake),
    children: () => settleChildren(context, report),
    sagas: () => settleSagas(context, sagaWalk, report),
    locks: () => settleLocks(store),
    schedules: () => fireSchedules(context, report),
    batches: () => runBatches(context, report),
  };
  const fleet = new FleetCounter(store, machines);
  const purger = new Purger(context, { workerId, archiveFolder });
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
        [fleet, purger, presence, orders].map((each) => () => each.round()),
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
