/**
 * A simulated installation: processes on one database, each store call of each held until the schedule lets it go.
 *
 * Holds: what happens next is chosen by the seed alone, among all that could happen: a held call goes on, a process's time
 *        passes, the database's clock moves, a process crashes. Nothing is chosen before everything else has come to rest.
 */
import { localActor } from "@/lib/access/actor";
import { LockstepError } from "@/lib/base/errors";
import { createRuntime, type Runtime } from "@/lib/runtime/runtime";
import type { Store } from "@/lib/store/store";
import { Random } from "../random-chart";
import { epochMs, realNow, realTimeout, turnOfLoop, VirtualTime } from "./virtual-time";

export const actor = localActor;

export interface Gate {
  owner: SimProcess | null;
  label: string;
  open(): void;
}

/** A store call that has passed its gate and has not come back. */
export interface CallUnderWay {
  /** Held before one of its statements, or waiting for a lock in the database. */
  rests: "no" | "held" | "blocked";
  /** Its server process, on PostgreSQL. */
  pid: number | null;
  /** Its last statement was the end of a transaction that failed: nothing of it is in the database. */
  rolledBack?: boolean;
}

/** A log entry, of an instance or of a lock, in the order of commits. */
export interface Committed {
  kind: "instance" | "lock";
  id: string;
  seq: number;
  /** Which transaction, in the order in which they resolved. */
  tx: number;
  /** How many of these there were when it began. */
  began: number;
  /** What the clock said when it was decided. */
  now: number;
}

/** An instance of which retention has left a tombstone. */
export interface Purged {
  id: string;
  /** Of the tombstone. */
  incarnation: number;
  seq: number;
  /** The latest that the database's clock had said by then. */
  now: number;
  /** By which commit. */
  tx: number;
}

export interface SimProcess {
  readonly name: string;
  dead: boolean;
  readonly crashed: Promise<void>;
  readonly runtime: Runtime;
  crash(): void;
}

/** Lets a transaction under way, knowing whose it is. */
export type Watch = <T>(
  call: CallUnderWay,
  world: World,
  process: SimProcess,
  work: () => Promise<T>,
) => Promise<T>;

/** `process`: null for who only reads along. */
export type Plant = (store: Store, world: World, process: SimProcess | null) => Store;

export interface WorldOptions {
  seed: number;
  /** The real one; stays open. */
  store: Store;
  /** A process's way to it. */
  storeOf: (real: Store, world: World, process: SimProcess) => Store;
  processes: number;
  /** How likely a store call fails, loses its answer or takes its process along; 0: no process crashes at all. */
  faultRate: number;
  /** Which way the database's clock may be set; default: both. */
  clockMoves?: "forward";
  /** How likely a batch finds an instance held by another. */
  busyRate: number;
  /** Retention has something to do: snapshots come after a few entries, and now and then much time passes. */
  ages?: Random;
  /** Changes what a process does for the worse: a planted fault. */
  plant?: Plant;
  /** Before any process is opened. */
  onTime: (time: VirtualTime) => void;
  /** Lets a transaction under way: the statement-level simulator tells its statements by it. */
  watch?: Watch;
  /** A planted fault: the statement that is sent instead. */
  rewrite?: (text: string) => string;
  /** PostgreSQL: which of these server processes wait for a lock. */
  blocked?: (pids: readonly number[]) => Promise<ReadonlySet<number>>;
}

const stepsMax = 40_000;
/** Of the log; a seed writes some seventy, with schedules up to some thousand. What sends for ever would fill the memory. */
const entriesMax = 4_000;
/** A statement that has not come back after it may be waiting for a lock. */
const momentMs = 1;
/** Its transactions are rolled back within this time. */
const abandonMaxMs = 1_000;
/** So long is no statement under way on a machine that is busy; a ROLLBACK is answered at once. */
const sleepsAfterMs = 1_000;
const sleepsAfterRollbackMs = 20;
/** On SQLite. */
const turnsMax = 1_000;
/** PostgreSQL's clock is the machine's: set right, it goes back. */
const clockBackMs = [-300, -30_000];

/** Up to past the time that answers are kept at least. */
const leapsMs = [600_000, 1_700_000, 3_700_000];
const leapRate = 0.06;

export class World {
  readonly random: Random;
  readonly time = new VirtualTime();
  readonly processes: SimProcess[] = [];
  readonly reported: unknown[] = [];
  readonly underWay = new Set<CallUnderWay>();
  /** What the database's clock has said, each change; newest last. */
  readonly clock: number[] = [epochMs];
  faults = true;
  /** Of which life the instance was when the message was put into its mailbox, by message id. */
  readonly enqueuedFor = new Map<string, number>();
  /** By which commit it was put there, by message id. */
  readonly enqueuedBy = new Map<string, number>();
  readonly committed: Committed[] = [];
  readonly purged: Purged[] = [];
  /** A planted fault's own memory, common to all processes. */
  readonly shared: Record<string, unknown> = {};
  abandoned = false;
  crashes = 0;
  /** Transactions that the database had to run again. */
  deadlocks = 0;
  /** What was done, newest last: for who has to find out why. */
  readonly trail: string[] = [];
  private gates: Gate[] = [];
  /** Transactions that wrote and have committed. */
  commits = 0;
  private activity = 0;
  /** Calls that have come back. */
  private ended = 0;
  private endedSeen = 0;
  private onCommit: () => void = () => undefined;
  private onTouch: () => void = () => undefined;
  private named = 0;
  private steps = 0;

  constructor(readonly options: WorldOptions) {
    this.random = new Random(options.seed);
    options.onTime(this.time);
    for (let n = 0; n < options.processes; n += 1) this.open();
  }

  /** What the database's clock says. */
  get nowMs(): number {
    return this.clock.at(-1) ?? epochMs;
  }

  /** How far apart are what the clock said at the `from`-th change of it and since. */
  spanMs(from: number): number {
    const said = this.clock.slice(from);
    return Math.max(...said) - Math.min(...said);
  }

  passTime(ms: number): void {
    this.clock.push(this.nowMs + ms);
  }

  note(text: string): void {
    this.trail.push(text);
    if (this.trail.length > 400) this.trail.splice(0, 200);
  }

  touch(): void {
    this.activity += 1;
    this.onTouch();
  }

  /** To be told of every transaction that wrote, when it has committed. */
  noteCommitted(
    written: readonly Omit<Committed, "tx" | "began">[],
    began: number,
    enqueued: readonly string[] = [],
    purged: readonly Omit<Purged, "tx">[] = [],
  ): void {
    this.commits += 1;
    for (const one of purged) this.purged.push({ ...one, tx: this.commits });
    for (const one of written) this.committed.push({ ...one, began, tx: this.commits });
    for (const messageId of enqueued) this.enqueuedBy.set(messageId, this.commits);
    this.onCommit();
  }

  /** Resolves after the next commit. */
  nextCommit(): Promise<void> {
    return new Promise((resolve) => (this.onCommit = resolve));
  }

  begin(call: CallUnderWay): void {
    this.underWay.add(call);
  }

  end(call: CallUnderWay): void {
    this.underWay.delete(call);
    this.ended += 1;
    this.touch();
  }

  /**
   * Who is still held lets go of its connection: a seed that ended before its time leaves nobody waiting. Where the database's
   * statements are held; calls that are held as a whole have none, and never go on.
   */
  async abandon(): Promise<void> {
    this.abandoned = true;
    for (const gate of this.gates.splice(0)) gate.open();
    const until = realNow() + abandonMaxMs;
    while (this.underWay.size > 0 && realNow() < until)
      await new Promise((resolve) => realTimeout(resolve, momentMs));
  }

  /** Resolves when the schedule lets it. */
  hold(owner: SimProcess | null, label: string): Promise<void> {
    if (this.abandoned) return Promise.resolve();
    this.touch();
    return new Promise((resolve) => this.gates.push({ owner, label, open: resolve }));
  }

  process(random: Random): SimProcess {
    return random.pick(this.processes);
  }

  /** A process more, in the place of a dead one. */
  open(): SimProcess {
    this.named += 1;
    const name = `p${this.named}`;
    let crashed: () => void = () => undefined;
    const part = {
      name,
      dead: false,
      crashed: new Promise<void>((resolve) => (crashed = resolve)),
      crash: () => {
        if (part.dead) return;
        part.dead = true;
        this.crashes += 1;
        this.note(`${name} crashes`);
        this.gates = this.gates.filter((gate) => gate.owner !== process);
        const place = this.processes.indexOf(process);
        if (place >= 0) this.processes.splice(place, 1);
        if (this.processes.length < (this.faults ? this.options.processes : 1)) this.open();
        this.touch();
        crashed();
      },
    };
    const process: SimProcess = part as SimProcess;
    const real = this.options.plant
      ? this.options.plant(this.options.store, this, process)
      : this.options.store;
    Object.assign(part, {
      runtime: createRuntime({
        store: this.options.storeOf(real, this, process),
        report: (error) => {
          if (!isTransient(error)) this.reported.push(error);
        },
      }),
    });
    process.runtime.startWorkers();
    this.processes.push(process);
    return process;
  }

  /** Lets things happen until `over`, one at a time. */
  async drive(over: () => boolean): Promise<void> {
    for (;;) {
      await this.rest();
      if (over()) return;
      this.steps += 1;
      if (this.steps > stepsMax) throw new Error(`no end after ${stepsMax} steps`);
      if (this.committed.length > entriesMax) throw new Error(`no end after ${entriesMax} entries`);
      this.next();
    }
  }

  /** Without faults, and with the database's clock standing still, until nothing happens any more. */
  async calm(): Promise<void> {
    // Loops look again after 250 ms of their process's time; so long without a write is rest.
    // Who is forgotten leaves no entry, and its children are to end.
    const writes = () => this.committed.length + this.purged.length;
    let written = writes();
    let until = this.time.nowMs + 300;
    await this.drive(() => {
      if (writes() > written) until = this.time.nowMs + 300;
      written = writes();
      return this.gates.length === 0 && this.time.nowMs >= until;
    });
  }

  private next(): void {
    const { random, gates } = this;
    if (this.faults) {
      const roll = random.below(1_000);
      if (roll < 6 && this.processes.length > 0 && this.options.faultRate > 0) {
        random.pick(this.processes).crash();
        return;
      }
      if (roll < 60) {
        const back = this.options.clockMoves === "forward" ? [] : clockBackMs;
        const ms = random.pick([1, 20, 250, 1_000, 1_000, 11_000, 61_000, ...back]);
        const { ages } = this.options;
        this.passTime(ages?.chance(leapRate) ? ages.pick(leapsMs) : ms);
        return;
      }
    }
    if (gates.length > 0 && (!this.faults || !random.chance(0.03))) {
      const place = random.below(gates.length);
      const [gate] = gates.splice(place, 1);
      if (gate) {
        this.note(`${gate.owner?.name ?? "client"} ${gate.label}`);
        gate.open();
      }
      return;
    }
    if (this.time.fireNext() || gates.length > 0) return;
    if (this.underWay.size === 0) throw new Error("everything waits for ever");
  }

  /** Until nothing goes on by itself: every call is held, has come back, or waits for a lock. */
  private async rest(): Promise<void> {
    let seen = -1;
    let quietMs = 0;
    for (let turns = 0; ; turns += 1) {
      // What goes on within this process has come to rest when a turn of its loop is over.
      await turnOfLoop();
      const now = this.activity + this.time.set;
      if (now !== seen) {
        seen = now;
        quietMs = 0;
        continue;
      }
      if (![...this.underWay].some((call) => call.rests === "no")) {
        if (!(await this.anyUnblocked())) return;
        continue;
      }
      // Where no call leaves this process, each has but to have its turn.
      if (!this.options.blocked && turns < turnsMax) continue;
      quietMs += await this.stirred();
      if (now !== this.activity + this.time.set) continue;
      await this.findBlocked();
      // It sleeps on a timer, as before running again what a deadlock ended.
      const moving = [...this.underWay].filter((call) => call.rests === "no");
      const restsAfterMs = moving.every((call) => call.rolledBack) ? sleepsAfterRollbackMs : sleepsAfterMs;
      if (quietMs > restsAfterMs && this.time.waiting > 0) return;
      if (quietMs > 20_000) throw new Error("a store call does not come back");
    }
  }

  /** Leaves the core to the database until somebody does something, or for a moment; how long that was. */
  private async stirred(): Promise<number> {
    const began = realNow();
    await new Promise<void>((resolve) => {
      this.onTouch = resolve;
      realTimeout(resolve, momentMs);
    });
    this.onTouch = () => undefined;
    // A machine that stood still for a while proves nothing.
    return Math.min(realNow() - began, 10 * momentMs);
  }

  private async findBlocked(): Promise<void> {
    const moving = [...this.underWay].filter((call) => call.rests === "no" && call.pid !== null);
    const blocked = await this.blockedOf(moving);
    for (const call of moving) if (blocked.has(call.pid ?? -1)) call.rests = "blocked";
  }

  private async anyUnblocked(): Promise<boolean> {
    const waiting = [...this.underWay].filter((call) => call.rests === "blocked");
    // Locks are let go of by ends of transactions alone.
    if (waiting.length === 0 || this.ended === this.endedSeen) return false;
    this.endedSeen = this.ended;
    const blocked = await this.blockedOf(waiting);
    let any = false;
    for (const call of waiting) {
      if (blocked.has(call.pid ?? -1)) continue;
      if (call.rests === "blocked") call.rests = "no";
      any = true;
    }
    return any;
  }

  private async blockedOf(calls: readonly CallUnderWay[]): Promise<ReadonlySet<number>> {
    const pids = calls.flatMap(({ pid }) => (pid === null ? [] : [pid]));
    return pids.length > 0 && this.options.blocked ? this.options.blocked(pids) : new Set();
  }
}

/** The world's no, to be repeated; anything else is a defect. */
export const transientCodes: ReadonlySet<string> = new Set([
  "outcome-unknown",
  "database-unavailable",
  "database-busy",
  "shutting-down",
]);
export const isTransient = (error: unknown): boolean =>
  error instanceof LockstepError && transientCodes.has(error.code);
