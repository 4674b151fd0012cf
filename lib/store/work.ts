/** What a worker looks for, asked in one statement: whether there is any, not what it is. */
export interface Work {
  /** Messages that may be applied, timers that are due. */
  steps: boolean;
  /** Attempts or waits whose time ran out, concurrency keys that came free. */
  tasks: boolean;
  /** Children to begin, states whose locks are free, orphans. */
  children: boolean;
  /** Instances that undo. */
  sagas: boolean;
  /** Leases and waits whose time ran out. */
  locks: boolean;
  schedules: boolean;
  batches: boolean;
}

export interface WorkReads {
  /** As of `at`; default: the database's time. A worker that steps a share of the instances is told of the others' too. */
  findWork(at?: number): Promise<Work>;
}
