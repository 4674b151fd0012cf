/**
 * What is remembered of the fleet: how many instances were in each state at each minute's end, counted behind the steps from
 * what their log entries exited and entered.
 */
export interface FleetState {
  chartId: string;
  version: number;
  state: string;
}
export interface FleetCount extends FleetState {
  count: number;
}
export interface FleetDelta extends FleetState {
  /** Since the epoch. */
  minute: number;
  entered: number;
  left: number;
}
/** Log entries that exited and entered the same states within a minute, taken together. */
export interface MovesTogether {
  chartId: string;
  version: number;
  minute: number;
  /** JSON lists of names. */
  exited: string;
  entered: string;
  count: number;
  fromTx: number;
  toTx: number;
}
/** An entry that says too little by itself: the state before it must be looked at. */
export interface LoneMove {
  instanceId: string;
  seq: number;
  kind: "migration" | "deleted";
  chartId: string;
  version: number;
  /** JSON. */
  input: string;
  at: number;
  tx: number;
}
export interface FleetMoves {
  together: MovesTogether[];
  lone: LoneMove[];
}
/** Where counting has come to: all entries of transactions before `tx`. */
export interface FleetFold {
  tx: number;
  /** When that was, ms. */
  at: number;
}

/** An instance that there was, or may have been, at a time. */
export interface InstanceThen {
  id: string;
  /** Of the newest entry that is kept of that time; 0: none is. */
  seq: number;
  /** 0: what follows is what it was then. */
  hasMoved: number;
  chartId: string;
  version: number;
  status: string;
  /** JSON. */
  configuration: string;
  entryAt: number;
  /** Of its present life. */
  createdAt: number;
  deletedAt: number | null;
}

/** When transactions that are open began, ms; null: there is none. */
export interface OpenSince {
  /** Of those that have written, or locked a row. */
  writing: number | null;
  /** Of those that may write yet: all. */
  any: number | null;
}

export interface FleetReads {
  /**
   * By id, those of the ids behind `after` up to `upTo`. `chartId`: of what the instance is now, or was in an earlier life.
   */
  instancesAt(
    at: number,
    chartId: string | undefined,
    ids: { after: string; upTo: string | null },
    limit: number,
  ): Promise<InstanceThen[]>;
  /** The id that so many instances stand before or at, behind `after`; null: there are fewer. */
  idAhead(after: string, count: number): Promise<string | null>;
  /**
   * The oldest transactions that are open in the database, whosever they are. What is committed after a call of now() before
   * this was written by one of them or by a later one. Null: it can't be known.
   */
  openSince(): Promise<OpenSince | null>;
  fleetFold(): Promise<FleetFold>;
  /** Entries of transactions from `fold.tx` on that nothing committed later can precede, about `limit` of them; `tx`: where they end, `more`: others follow. */
  uncounted(fold: FleetFold, limit: number): Promise<FleetMoves & { tx: number; more: boolean }>;
  /** At the end of `minute`, as far as counted; states that nobody was in are left out. */
  fleetTotals(minute: number, chartId: string | undefined): Promise<FleetCount[]>;
  /** Counted entries of that minute, and all uncounted ones, up to the time `at`. */
  movesSince(fold: FleetFold, minute: number, at: number, chartId: string | undefined): Promise<FleetMoves>;
}

export interface FleetTransaction {
  /** The row that counts, held to the transaction's end. Call it after instance rows. */
  holdFleet(): Promise<FleetFold>;
  /** Adds them to their minutes and to all later totals. Call it after holdFleet. */
  addFleet(deltas: readonly FleetDelta[]): Promise<void>;
  writeFold(
    fold: FleetFold,
    minutes: readonly { minute: number; fromTx: number; toTx: number }[],
  ): Promise<void>;
}

export const minuteMs = 60_000;
export const minuteOf = (at: number): number => Math.floor(at / minuteMs);
