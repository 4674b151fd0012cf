/**
 * What is remembered of the processes that work: only while they are there.
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
}

export interface WorkerReads {
  /** By id, at most `limit`. */
  listWorkers(limit: number): Promise<WorkerRow[]>;
}

export interface WorkerTransaction {
  /**
   * The worker as it says it is. False, and nothing is written, when another session has the id and was seen within
   * `silentMs` before `row.seenAt`. The same session keeps its `startedAt`.
   */
  putWorker(row: WorkerRow, silentMs: number): Promise<boolean>;
  removeWorker(id: string, session: string): Promise<void>;
  /** Forgets those not seen since `before`. */
  removeSilentWorkers(before: number): Promise<void>;
}
