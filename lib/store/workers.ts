/**
 * What is remembered of the processes that work, only while they are there; and of the instances that some of them did not
 * survive.
 */
export interface WorkerRow {
  /** host-pid-random. */
  id: string;
  /** Tells a worker from another one that claims the same id. */
  session: string;
  /** `runtime`: steps instances. `task`: carries out tasks over the API. */
  kind: string;
  /** JSON list of task types. */
  types: string;
  /** Tasks at once. */
  slots: number;
  /** Tasks under way. */
  running: number;
  /** 1: it takes no more. */
  draining: number;
  note: string | null;
  startedAt: number;
  seenAt: number;
  /** JSON list of SteppingItem: what it is about to step. Written only after some worker was lost. */
  stepping: string | null;
  /** When it was found to have ended without taking leave; null again when it is heard of after all. */
  lostAt: number | null;
}
/** An instance, and what of it: a message's id, `timer:ID`, or "" for all that waits for it. */
export type SteppingItem = [instanceId: string, item: string];

/** An instance whose stepping a worker has not survived. */
export interface SuspectRow {
  instanceId: string;
  item: string;
  /** Workers lost at this very item. */
  deaths: number;
  at: number;
}

export interface WorkerReads {
  /** By id, at most `limit`. */
  listWorkers(limit: number): Promise<WorkerRow[]>;
  findSuspects(instanceIds: readonly string[]): Promise<SuspectRow[]>;
}

export interface WorkerTransaction {
  /**
   * The worker as it says it is. False, and nothing is written, when another session has the id and was seen within
   * `silentMs` before `row.seenAt`. The same session keeps its `startedAt` and what it is stepping.
   */
  putWorker(row: WorkerRow, silentMs: number): Promise<boolean>;
  removeWorker(id: string, session: string): Promise<void>;
  /** Those that step instances, and all that were not seen since `before`. */
  watchWorkers(before: number): Promise<WorkerRow[]>;
  /** Forgets those not seen since `before`, and suspects as old. */
  removeSilentWorkers(before: number): Promise<void>;
  /** Marks them as lost, unless they were before: each is returned to one caller alone. */
  loseWorkers(ids: readonly string[], at: number): Promise<WorkerRow[]>;
  /** False: there is no such worker. */
  noteStepping(id: string, session: string, stepping: readonly SteppingItem[] | null): Promise<boolean>;
  /** Replaces what is known of these instances. */
  putSuspects(rows: readonly SuspectRow[]): Promise<void>;
  lockSuspects(instanceIds: readonly string[]): Promise<SuspectRow[]>;
  removeSuspect(instanceId: string): Promise<void>;
}
