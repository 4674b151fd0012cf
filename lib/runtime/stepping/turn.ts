/**
 * One instance's turn in a batch: its waiting messages and due timers are stepped one by one, and all that they cause is
 * gathered as rows. No I/O, no clock: time comes in.
 *
 * Holds: I1 messages are applied in mailbox order, each becomes exactly one log entry with the next seq.
 *        I6 a timer is taken from the snapshot, so one of an earlier entry generation is never there to fire.
 *        Timers due before a message was sent fire before it. `at` never goes back.
 *        While a session is open nothing but its own messages is applied.
 * Does not: choose instances, lock or write (step-batch.ts), or know what an event means (the engine).
 */
import { assert, must } from "@/lib/base/assert";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import { storable } from "@/lib/base/storable-text";
import type { Effect } from "@/lib/statechart/effect";
import { snapshotHash, type ArmedTimer, type Snapshot } from "@/lib/statechart/snapshot";
import type { StepInput, StepOptions, StepResult } from "@/lib/statechart/step";
import type { ParentRef } from "@/lib/store/children";
import type {
  DeadLetterRow,
  InstanceRow,
  LogRow,
  MessageRow,
  QueuedMessage,
  TimerRow,
} from "@/lib/store/instances";
import type { StepWrites } from "@/lib/store/steps";
import { applyControl, type ControlInput } from "../control/apply-control";
import { applyInput, applyStart, type StartInput } from "./apply-input";
import {
  isEnded,
  isUnderWay,
  parentOf,
  sessionCause,
  takesMessages,
  timerLabel,
  type InstanceStatus,
  type SendResult,
} from "../instances/instance-views";
import { writeFields } from "../instances/indexed-fields";
import { noSessionTimer, sessionOf, sessionTimer, type Session } from "./instance-session";
import { internalMessage, type Outgoing } from "./internal-message";
import { netMoves } from "../operations/net-moves";
import { lockingStates, lockTasksOf } from "../locks/state-locks";
import { isChildKind, newTask, taskIdOf } from "../tasks/task-rules";
import { engineSemantics, messagesPerTurnMax, snapshotEveryBytes, snapshotEveryEntries } from "../limits";
import type { Machine } from "@/lib/statechart/machine";
import { instanceEnded, sequenceConflict } from "../refusals";
import { idsOf, tryTogether, type AppliedEvent, type Standing, type Together } from "./together";

/** What became of a message of this turn. */
export type Verdict =
  | {
      kind: "applied";
      result: SendResult;
      failure: { code: string; message: string } | null;
      /** What became of each, when the message was several events. */
      together?: AppliedEvent[];
    }
  /** It stays, or now is, in the mailbox. */
  | { kind: "queued"; result: SendResult }
  | { kind: "refused"; error: LockstepError };

/** Null when a message may be applied, else why not: the fences' and sequence checks of step-batch.ts. */
export type Admission = (message: Admitted, row: InstanceRow) => LockstepError | null;
export type Admitted = Pick<MessageRow, "incarnation" | "expectedSeq" | "fences" | "actor" | "type">;

/** How an instance begins, and by whose doing. */
export interface Start extends Pick<LogRow, "actor" | "cause" | "dedupeKey"> {
  input: StartInput;
}

interface Waiting {
  message: MessageRow;
  /** Set when it lies in the mailbox. */
  place: QueuedMessage | null;
  /** Goes before what lies in the mailbox. */
  first?: true;
  /** Of the session that is open. */
  own?: boolean;
}

export class Turn {
  row: InstanceRow;
  snapshot: Snapshot;
  readonly verdicts = new Map<string, Verdict>();
  readonly outgoing: Outgoing[] = [];
  private readonly snapshotBefore: Snapshot | null;
  private readonly statusBefore: string;
  private readonly versionBefore: number;
  private readonly semanticsBefore: number;
  private readonly waiting: Waiting[] = [];
  private readonly applied: string[] = [];
  private readonly leftLocks = new Set<string>();
  private stepped = 0;
  private readonly sessionBefore: string | null;
  /** The one that is open. */
  private session: Session | null;

  /**
   * `before`: the instance's state when the batch began; null for one that this transaction starts.
   * `mailbox`: its oldest messages; `more`: the mailbox holds others behind them.
   */
  constructor(
    private readonly machine: Machine,
    row: InstanceRow,
    snapshot: Snapshot | null,
    private readonly now: number,
    private readonly writes: StepWrites,
    mailbox: readonly QueuedMessage[],
    private readonly more: boolean,
  ) {
    this.row = row;
    this.snapshotBefore = snapshot;
    this.statusBefore = row.status;
    this.versionBefore = row.version;
    this.semanticsBefore = row.semantics;
    this.sessionBefore = row.session;
    this.session = sessionOf(row, now);
    if (row.session !== null && !this.session) this.row = { ...row, session: null };
    this.snapshot = snapshot ?? unstarted;
    for (const place of mailbox) this.waiting.push({ message: place, place });
  }

  get status(): string {
    return this.row.status;
  }

  /** Messages that wait, as far as they were read. */
  get pending(): number {
    return this.waiting.length;
  }

  /** What this turn's end is to the invocation that the instance is; null: it didn't end, or is nobody's. */
  get ending(): { parent: ParentRef; row: InstanceRow; output: Json } | null {
    const { status } = this.row;
    if (status === this.statusBefore || (!isEnded(status) && status !== "failed")) return null;
    const parent = parentOf(this.row);
    return parent && { parent, row: this.row, output: this.snapshot.output ?? null };
  }

  /** What waits is applied by the next turn; else something has to happen first. */
  get goesOn(): boolean {
    return takesMessages(this.row.status) && !this.session;
  }

  /** Lock invocations whose states were left in this turn, by task; null: all of the instance's, it has ended. */
  get locksLeft(): ReadonlySet<string> | null {
    return isEnded(this.row.status) && lockingStates(this.machine).length > 0 ? null : this.leftLocks;
  }

  /** As `pending`; never 0 when the mailbox holds more than was read. */
  get behind(): number {
    return this.waiting.length + (this.more ? 1 : 0);
  }

  /**
   * A message that joins the end of the mailbox in this transaction. One of the open session's `own` goes ahead, and is
   * never left in the mailbox.
   */
  add(message: MessageRow, own = false): void {
    this.waiting.push({ message, place: null, own });
  }

  /** Opens or renews a session; null ends it. */
  setSession(session: Session | null): void {
    this.session = session;
    this.row = { ...this.row, session: session && JSON.stringify(session) };
  }

  /** A message that goes before all others: one that is done again. */
  addFirst(message: MessageRow): void {
    this.waiting.unshift({ message, place: null, first: true });
  }

  /** Its first step. */
  begin({ input, ...by }: Start): void {
    this.row = { ...this.row, status: "running", semantics: engineSemantics };
    const entry = { kind: "start", type: "start", input: JSON.stringify(input), messageId: null };
    this.record({ ...entry, ...by }, applyStart(this.machine, input, this.options));
  }

  /** An operator's verb, or one of the runtime's own. `statusAfter`: where it is another than the verb's. */
  control(
    input: ControlInput,
    { actor, dedupeKey = null }: { actor: string; dedupeKey?: string | null | undefined },
    statusAfter = (status: InstanceStatus) => status,
  ): void {
    const { result, status } = applyControl(this.machine, this.snapshot, input, this.options);
    const entry = { kind: "control", type: input.verb, input: JSON.stringify(input), actor };
    this.record({ ...entry, cause: null, messageId: null, dedupeKey }, result, statusAfter(status));
  }

  /** Steps until nothing is left, the instance stops, or the turn's bounds are reached; one step at least. */
  run(admit: Admission, isOver: () => boolean, stepsMax = messagesPerTurnMax): void {
    for (let steps = 0; steps < stepsMax; steps += 1) {
      if (!takesMessages(this.row.status) || (steps > 0 && isOver())) return;
      const index = this.session ? this.waiting.findIndex(({ first, own }) => first || own) : 0;
      const next = this.waiting[index];
      const timer = this.session ? null : dueTimerOf(this.snapshot, this.now);
      if (timer && (!next || timer.timer.dueAt <= next.message.enqueuedAt)) this.fire(timer);
      // Behind messages that were not read: those come first.
      else if (next && !(next.place === null && this.more && !next.first && !next.own)) {
        this.waiting.splice(index, 1);
        // What is done again was admitted the first time.
        this.take(next, next.first ? () => null : admit);
      } else return;
    }
  }

  /** Gathers what remains to be written: call it once, after run. */
  finish(): void {
    if (isEnded(this.row.status)) this.refuseRest();
    this.refuseOvertaken();
    const left = this.waiting.length;
    for (const { message, place, own } of this.waiting) {
      // Its caller tries again: in the mailbox it would outlive its session.
      if (own) continue;
      if (place === null) this.writes.enqueued.push(message);
      this.verdicts.set(message.messageId, {
        kind: "queued",
        result: this.resultOf(message, "queued", left),
      });
    }
    for (const id of this.applied) {
      const verdict = this.verdicts.get(id);
      if (verdict?.kind === "applied") verdict.result.pending = left;
    }
    if (this.session && !takesMessages(this.row.status)) this.setSession(null);
    this.leaveFamilies();
    if (this.stepped > 0 || this.row.session !== this.sessionBefore) this.writeRow();
    // What waits here is work again when someone mends the instance.
    const wasOpen = this.sessionBefore !== null;
    if (wasOpen && !this.session) this.writes.cancelled.push(noSessionTimer(this.row));
    if (takesMessages(this.row.status)) {
      if (this.session) {
        // Its own steps leave what others sent alone: a turn that comes for it in vain puts it away.
        if (this.stepped === 0) {
          this.writes.parked.push(this.row.id);
          this.writes.armed.push(sessionTimer(this.row, this.session));
        }
      } else if (wasOpen || !takesMessages(this.statusBefore)) this.writes.unparked.push(this.row.id);
    } else if (!isEnded(this.row.status)) this.writes.parked.push(this.row.id);
  }

  /**
   * One step's result as rows. Used for the start and for control verbs too, whose entries it makes; these say what the
   * instance's `status` is after them.
   */
  record(
    entry: Pick<LogRow, "kind" | "type" | "input" | "actor" | "cause" | "messageId" | "dedupeKey">,
    result: StepResult,
    wanted?: InstanceStatus,
  ): void {
    const status = this.statusAfter(this, result, wanted);
    const at = Math.max(this.now, this.row.at);
    const unchanged = result.snapshot === this.snapshot && entry.kind !== "start";
    const text = unchanged ? this.row.snapshot : JSON.stringify(result.snapshot);
    const hash = unchanged ? this.row.stateHash : snapshotHash(result.snapshot);
    const failure = result.snapshot.error ?? result.error ?? null;
    const seq = this.row.seq + 1;
    const problem = result.outcome.outcome === "failed" ? (failure ?? unknownFailure) : problemOf(result);
    const { exited, entered } = netMoves(this.machine, this.snapshot, result);
    // A literal of all its fields: with `entry` spread into it, it costs several times as much.
    const log: LogRow = {
      instanceId: this.row.id,
      seq,
      incarnation: this.row.incarnation,
      kind: result.outcome.outcome === "failed" && !begun.has(entry.kind) ? "step-failed" : entry.kind,
      type: entry.type,
      input: entry.input,
      at,
      actor: entry.actor,
      cause: entry.cause,
      messageId: entry.messageId,
      dedupeKey: entry.dedupeKey,
      outcome: result.outcome.outcome,
      reason: result.outcome.reason ?? null,
      status,
      chartId: this.row.chartId,
      version: this.row.version,
      semantics: this.row.semantics,
      exited: textOf(exited),
      entered: textOf(entered),
      patch: textOf(patchOf(result)),
      stateHash: hash,
      trace: JSON.stringify(result.microsteps),
      logs: textOf(logsOf(result)),
      errorCode: problem === null ? null : storable(problem.code),
      errorMessage: problem === null ? null : storable(problem.message),
    };
    this.writes.log.push(log);
    for (const taskId of lockTasksOf(this.machine, this.snapshot, result.exited)) this.leftLocks.add(taskId);
    this.snapshot = result.snapshot;
    this.row = {
      ...this.row,
      status,
      seq,
      at,
      rank: at - this.row.priority * 60_000,
      configuration: JSON.stringify(result.snapshot.configuration),
      snapshot: text,
      stateHash: hash,
      logBytes: this.row.logBytes + sizeOf(log),
      lastEvent: entry.type,
      errorCode: result.snapshot.status === "failed" ? storable(failure?.code ?? "internal") : null,
      errorMessage: result.snapshot.status === "failed" ? storable(failure?.message ?? "") : null,
      updatedAt: at,
      endedAt: isEnded(status) ? at : null,
    };
    this.stepped += 1;
    this.storeSnapshotWhenDue();
    for (const effect of result.effects) this.carryOut(effect, at);
  }

  /** A state put in the place of the present one, as a fork, a reset or a migration does. */
  place(entry: {
    input: Extract<ControlInput, { snapshot: Snapshot }>;
    actor: string;
    kind: "control" | "migration";
    version: number;
  }): void {
    const { input, kind, actor, version } = entry;
    this.row = { ...this.row, version };
    const status = input.verb === "migrate" ? (this.row.status as InstanceStatus) : "running";
    const { result } = applyControl(this.machine, this.snapshot, input, {
      at: this.now,
      seq: this.row.seq + 1,
    });
    const made = { kind, type: input.verb, input: JSON.stringify(input), actor };
    this.record({ ...made, cause: null, messageId: null, dedupeKey: null }, result, status);
  }

  private statusAfter(
    before: Standing,
    result: StepResult,
    wanted = statusAfter(before.status, result.snapshot.status),
  ): InstanceStatus {
    return this.undoes(before, result) ? "compensating" : wanted;
  }

  /** The chart asks for its deeds to be undone, or has failed and wants it so. */
  private undoes(before: Standing, { effects, snapshot }: StepResult): boolean {
    if (effects.some(({ type }) => type === "compensate")) return true;
    const hasFailed = snapshot.status === "failed" && before.snapshot.status !== "failed";
    return hasFailed && this.machine.chart.settings?.onFailure === "compensate";
  }

  private take({ message, place, own }: Waiting, admit: Admission): void {
    const refusal = admit(message, this.row);
    if (refusal) {
      this.refuse(message, place, refusal);
      return;
    }
    const input = JSON.parse(message.input) as StepInput | Together;
    if (input.kind === "events") {
      this.takeTogether(message, place, input);
      return;
    }
    this.consume(place);
    const result = this.step(input);
    this.record(
      {
        kind: input.kind === "answer" ? "task-answer" : "event",
        type: message.type,
        input: message.input,
        actor: message.actor,
        cause: own && this.session ? sessionCause(this.session.holder) : message.cause,
        messageId: message.messageId,
        dedupeKey: message.dedupeKey,
      },
      result,
    );
    this.applied.push(message.messageId);
    const failed = result.outcome.outcome === "failed";
    // To be sent again by hand; what stopped the instance is redriven instead.
    if (failed && takesMessages(this.row.status)) this.setAside(message, "step-failed");
    const verdict: Verdict = {
      kind: "applied",
      result: {
        ...this.resultOf(message, "applied", 0),
        seq: this.row.seq,
        outcome: result.outcome.outcome,
        reason: result.outcome.reason ?? null,
      },
      failure: failed
        ? { code: result.error?.code ?? "internal", message: result.error?.message ?? "" }
        : null,
    };
    this.verdicts.set(message.messageId, verdict);
  }

  private takeTogether(message: MessageRow, place: QueuedMessage | null, together: Together): void {
    const after = (before: Standing, result: StepResult) => this.statusAfter(before, result);
    const tried = tryTogether(this.machine, this, together, this.options, after);
    if (tried instanceof LockstepError) {
      this.refuse(message, place, tried);
      return;
    }
    this.consume(place);
    const ids = idsOf(message.messageId, tried.length);
    const results = tried.map(({ input, result }, index) => {
      const { actor, cause, dedupeKey } = message;
      const messageId = ids[index] ?? message.messageId;
      const type = input.kind === "event" ? input.type : message.type;
      const entry = { kind: "event", type, input: JSON.stringify(input), messageId };
      this.record({ ...entry, actor, cause, dedupeKey }, result);
      const { outcome, reason = null } = result.outcome;
      return { messageId, seq: this.row.seq, outcome, reason };
    });
    this.applied.push(message.messageId);
    const last = must(results.at(-1), "several events are one at least");
    this.verdicts.set(message.messageId, {
      kind: "applied",
      result: { ...this.resultOf(message, "applied", 0), ...last },
      failure: null,
      together: results,
    });
  }

  private fire({ id, timer }: { id: string; timer: ArmedTimer }): void {
    const input: StepInput = { kind: "timer", id };
    const result = this.step(input);
    assert(result.snapshot.timers[id] === undefined, `timer ${id} is still armed after it fired`);
    this.record(
      {
        kind: "timer",
        type: timerLabel(timer),
        input: JSON.stringify({ ...input, dueAt: timer.dueAt }),
        actor: "system",
        cause: null,
        messageId: null,
        dedupeKey: null,
      },
      result,
    );
  }

  private step(input: StepInput): StepResult {
    return applyInput(this.machine, this.snapshot, input, this.options);
  }

  /** Of the next step. */
  private get options(): StepOptions {
    return { at: Math.max(this.now, this.row.at), seq: this.row.seq + 1, trace: true };
  }

  private carryOut(effect: Effect, at: number): void {
    if (effect.type === "invoke.start") this.writes.tasksBegun.push(newTask(this.row, effect, at));
    if (effect.type === "invoke.cancel") {
      const taskId = taskIdOf(effect.generation, effect.id);
      this.writes.tasksCancelled.push({ instanceId: this.row.id, taskId, at });
    }
    if (effect.type !== "send") return;
    if (
      effect.to === null ||
      effect.to === `#_scxml_${this.row.id}` ||
      effect.to === `instance:${this.row.id}`
    ) {
      this.add(internalMessage(this.row.id, this.row, effect.event, at));
    } else {
      this.outgoing.push({ from: this.row.id, to: effect.to, event: effect.event, at });
    }
  }

  /** Invocations of children that this turn has ended or left. */
  private leaveFamilies(): void {
    const after = this.snapshot.invocations;
    for (const [id, { src, generation }] of Object.entries(this.snapshotBefore?.invocations ?? {})) {
      if (!isChildKind(src) || after[id]?.generation === generation) continue;
      const { id: parentId, incarnation: parentIncarnation } = this.row;
      const parentTask = taskIdOf(generation, id);
      this.writes.childrenLeft.push({ parentId, parentIncarnation, parentTask });
    }
  }

  private storeSnapshotWhenDue(): void {
    const { seq, snapshotSeq, logBytes } = this.row;
    if (seq - snapshotSeq < snapshotEveryEntries && logBytes < snapshotEveryBytes) return;
    this.writes.snapshots.push({
      instanceId: this.row.id,
      seq,
      incarnation: this.row.incarnation,
      at: this.row.at,
      version: this.row.version,
      text: this.row.snapshot,
      hash: this.row.stateHash,
    });
    this.row = { ...this.row, snapshotSeq: seq, logBytes: 0 };
  }

  private writeRow(): void {
    if (!this.snapshotBefore) this.writes.created.push(this.row);
    else if (!this.isOrdinary()) this.writes.changed.push(this.row);
    else if (this.row.status === this.statusBefore) this.writes.stepped.push(this.row);
    else this.writes.restated.push(this.row);
    this.moveStates(this.snapshotBefore?.configuration ?? [], this.snapshot.configuration);
    this.moveFields();
    if (this.row.concurrencyKey !== null && !isUnderWay(this.row.status))
      this.writes.keysLeft.push(this.row.id);
    if (isEnded(this.row.status)) {
      if (!this.leavesNothing())
        this.writes.ended.push({ instanceId: this.row.id, at: this.row.at, reason: "instance-ended" });
      return;
    }
    const before = this.snapshotBefore?.timers ?? {};
    for (const [timerId, timer] of Object.entries(this.snapshot.timers)) {
      if (JSON.stringify(before[timerId]) !== JSON.stringify(timer)) {
        this.writes.armed.push(timerRow(this.row, timerId, timer));
      }
    }
    for (const timerId of Object.keys(before)) {
      if (!this.snapshot.timers[timerId]) this.writes.cancelled.push({ instanceId: this.row.id, timerId });
    }
  }

  private moveStates(before: readonly string[], after: readonly string[]): void {
    const left = before.filter((state) => !after.includes(state));
    const entered = after.filter((state) => !before.includes(state));
    if (left.length + entered.length > 0)
      this.writes.configurations.push({ instanceId: this.row.id, left, entered });
  }

  /** Another version declares its own. */
  private moveFields(): void {
    const isMigrated = this.row.version !== this.versionBefore;
    if (isMigrated) this.writes.fieldsReplaced.push(this.row.id);
    const before = isMigrated ? null : (this.snapshotBefore?.context ?? null);
    writeFields(this.machine, this.row, before, this.snapshot.context, this.writes);
  }

  /** Nothing has changed but what steps change. */
  private isOrdinary(): boolean {
    const { session, version, semantics } = this.row;
    return (
      session === this.sessionBefore && version === this.versionBefore && semantics === this.semanticsBefore
    );
  }

  /** Its whole mailbox was read, and it never had a timer or a task: there is nothing to clear away. */
  private leavesNothing(): boolean {
    return (
      !this.more &&
      Object.keys(this.snapshot.generations).length === 0 &&
      Object.keys(this.snapshotBefore?.timers ?? {}).length === 0
    );
  }

  /** A new message whose expected seq can't come true any more: what lies before it takes the next one. */
  private refuseOvertaken(): void {
    for (let index = this.waiting.length - 1; index >= 0; index -= 1) {
      const { message, place } = must(this.waiting[index], "within the list");
      if (place !== null || message.expectedSeq === null || message.expectedSeq === this.row.seq) continue;
      this.waiting.splice(index, 1);
      this.verdicts.set(message.messageId, { kind: "refused", error: sequenceConflict(message, this.row) });
    }
  }

  /** The instance has ended in this turn, or had before: what came too late is refused or buried. */
  private refuseRest(): void {
    for (const { message, place } of this.waiting.splice(0)) {
      this.verdicts.set(message.messageId, { kind: "refused", error: instanceEnded(this.row) });
      if (place) this.bury(message, place, "instance-ended");
      this.tellSender(message);
    }
  }

  /** An instance that sent in vain hears of it. */
  private tellSender(message: MessageRow): void {
    const sender = /^instance:(.+)$/.exec(message.actor)?.[1];
    if (sender === undefined || sender === this.row.id) return;
    this.outgoing.push({
      from: this.row.id,
      to: `instance:${sender}`,
      event: { type: "error.communication", data: { type: message.type, to: this.row.id } },
      at: this.row.at,
    });
  }

  private refuse(message: MessageRow, place: QueuedMessage | null, error: LockstepError): void {
    this.verdicts.set(message.messageId, { kind: "refused", error });
    if (place) this.bury(message, place, error.code);
  }

  private bury(message: MessageRow, place: QueuedMessage, reason: string): void {
    this.consume(place);
    this.setAside(message, reason);
  }

  /** Null: it was never in the mailbox. */
  private consume(place: QueuedMessage | null): void {
    if (place) this.writes.consumed.push(place);
  }

  private setAside(message: MessageRow, reason: string): void {
    this.writes.deadLetters.push(deadLetterOf(message, Math.max(this.now, this.row.at), reason));
  }

  private resultOf(message: MessageRow, state: "applied" | "queued", pending: number): SendResult {
    return {
      messageId: message.messageId,
      instanceId: this.row.id,
      state,
      seq: null,
      outcome: null,
      reason: null,
      status: this.row.status as SendResult["status"],
      configuration: this.snapshot.configuration,
      pending,
      replayed: false,
    };
  }
}

/** The timer that fires next. */
export function dueTimerOf(snapshot: Snapshot, now: number): { id: string; timer: ArmedTimer } | null {
  let first: { id: string; timer: ArmedTimer } | null = null;
  for (const [id, timer] of Object.entries(snapshot.timers)) {
    if (timer.dueAt > now) continue;
    if (!first || timer.dueAt < first.timer.dueAt) first = { id, timer };
  }
  return first;
}

export const deadLetterOf = (message: MessageRow, at: number, reason: string): DeadLetterRow => ({
  instanceId: message.instanceId,
  messageId: message.messageId,
  incarnation: message.incarnation,
  type: message.type,
  input: message.input,
  actor: message.actor,
  cause: message.cause,
  enqueuedAt: message.enqueuedAt,
  at,
  reason,
  retriedAs: null,
});

/** Entries that stay what they are when their step fails. */
const begun: ReadonlySet<string> = new Set(["start", "control", "migration"]);

/** One that is being cancelled goes on until its chart has ended. */
function statusAfter(before: string, engine: Snapshot["status"]): InstanceStatus {
  if (before !== "cancelling" || engine === "failed") return engine;
  return engine === "completed" ? "cancelled" : "cancelling";
}

/** Before the first step there is nothing. */
export const unstarted: Snapshot = {
  status: "running",
  configuration: [],
  context: {},
  session: { id: "", input: null },
  history: {},
  generations: {},
  invocations: {},
  timers: {},
};

const timerRow = (row: InstanceRow, timerId: string, timer: ArmedTimer): TimerRow => ({
  instanceId: row.id,
  timerId,
  incarnation: row.incarnation,
  dueAt: timer.dueAt,
  kind: timer.kind,
  state: timer.state ?? null,
  label: timerLabel(timer),
  priority: row.priority,
});

/** Most lists of a step are empty. */
const textOf = (list: readonly Json[]): string => (list.length === 0 ? "[]" : JSON.stringify(list));

// Loops: flatMap costs several times as much, and this is done at every step.
function patchOf({ microsteps }: StepResult): Json[] {
  const patch: Json[] = [];
  for (const { changes } of microsteps) {
    for (const { path, after } of changes) patch.push(after === undefined ? [path] : [path, after]);
  }
  return patch;
}

function logsOf({ effects }: StepResult): Json[] {
  const logs: Json[] = [];
  for (const effect of effects) {
    if (effect.type !== "log") continue;
    const { label, value } = effect;
    logs.push(label === undefined ? { value } : { label, value });
  }
  return logs;
}

const unknownFailure = { code: "internal", message: "" };

/** What went wrong in a step that did not fail: the first guard, action or send, and how many more. */
function problemOf({ failures = [] }: StepResult): { code: string; message: string } | null {
  const [first, ...more] = failures;
  if (!first) return null;
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return { code: first.event, message: `${first.message}${others}` };
}

const sizeOf = (log: LogRow): number =>
  log.input.length + log.trace.length + log.patch.length + log.logs.length;
