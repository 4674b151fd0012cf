/**
 * What a worker tells of itself beside its beat, and what operators ask of it.
 */
export interface WorkerNotes {
  id: string;
  /** JSON list of {name, state, until}: its breakers that are not closed. */
  breakers: string;
  /** `0-31`; null: all. */
  partitions: string | null;
  /** 1: it is to take no more. */
  drainAsked: number;
  /** JSON list of names of breakers to be closed. */
  resets: string;
}

/** Who claims under an id, as far as it is known. */
export interface Claimant extends Pick<WorkerNotes, "id" | "drainAsked"> {
  session: string;
  seenAt: number;
  lostAt: number | null;
}

export interface WorkerOrderReads {
  listWorkerNotes(limit: number): Promise<WorkerNotes[]>;
  /** Null: there is no such worker in that session. */
  findOrders(id: string, session: string): Promise<Pick<WorkerNotes, "drainAsked" | "resets"> | null>;
  /** Those of these ids that are known, also as gone. */
  findClaimants(ids: readonly string[]): Promise<Claimant[]>;
}

export interface WorkerOrderTransaction {
  noteWorker(id: string, session: string, notes: Pick<WorkerNotes, "breakers" | "partitions">): Promise<void>;
  /** False: there is no such worker. */
  askDrain(id: string, drain: boolean): Promise<boolean>;
  /** The same. */
  askReset(id: string, breaker: string): Promise<boolean>;
  /** What was asked, once. */
  takeResets(id: string, session: string): Promise<string[]>;
}
