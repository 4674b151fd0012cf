/**
 * Instances, their states and their history as the runtime shows them.
 */
import type { Json } from "@/lib/base/json";
import type { ArmedTimer, Snapshot } from "@/lib/statechart/snapshot";
import type { ActionRun, Candidate, ContextChange } from "@/lib/statechart/trace";
import type { ParentRef } from "@/lib/store/children";
import { chartKeyScope, type KeyName } from "@/lib/store/concurrency";
import type { ConditionName, InstanceRow, LabelRow, LogLine, LogRow } from "@/lib/store/instances";
import type { KeyRow } from "@/lib/store/tasks";

export type InstanceStatus =
  | "queued"
  | "running"
  | "suspended"
  | "cancelling"
  | "compensating"
  | "stuck"
  | "completed"
  | "failed"
  | "cancelled"
  | "terminated";
export interface Failure {
  code: string;
  message: string;
}
export interface InstanceSummary {
  id: string;
  chartId: string;
  version: number;
  status: InstanceStatus;
  configuration: string[];
  seq: number;
  priority: number;
  businessKey: string | null;
  /** Of its chart's instances with the same one, one is under way at a time. */
  concurrencyKey: string | null;
  /** While it is queued: the instance that has its concurrency key. */
  blockedBy: string | null;
  /** What it waits for, beside events and time. */
  conditions: Condition[];
  labels: Record<string, string>;
  createdAt: number;
  updatedAt: number;
  lastEvent: string | null;
  error: Failure | null;
}
export interface Condition {
  /** `key`: its concurrency key. `human`: a person's answer. `child`: instances that it invoked. The rest as they are called. */
  for: ConditionName | "key";
  /** The invocation; null: of `key`. */
  taskId: string | null;
  /** The key, the keys of the locks, the invocation's src. */
  of: string;
  /** Who has it, or works on it: an instance, a lock's holder, a worker or a person; null: nobody. */
  by: string | null;
  /** When it is tried again; null: that is not told by time. */
  until: number | null;
  /** To be put after "waits for". */
  reason: string;
}

/** Of a page of instances. */
export interface Waits {
  /** The keys awaited, as far as somebody has them. */
  held: readonly KeyRow[];
  /** By instance; those that wait for nothing have no entry. */
  conditions: ReadonlyMap<string, readonly Condition[]>;
}
const waitsForNothing: Waits = { held: [], conditions: new Map() };

export interface TimerView {
  id: string;
  dueAt: number;
  kind: "after" | "send";
  state: string | null;
  label: string;
}
export interface InstanceView extends InstanceSummary {
  incarnation: number;
  context: Json;
  output: Json;
  timers: TimerView[];
  pending: number;
  /** While it is open, only its holder's events are applied. It may have run out since: `until` is the database's time. */
  session: { holder: string; until: number } | null;
  /** The invocation that it is. */
  parent: { instanceId: string; taskId: string; place: number } | null;
}
export interface StateAt {
  instanceId: string;
  seq: number;
  at: number;
  chartId: string;
  version: number;
  status: string;
  configuration: string[];
  context: Json;
  output: Json;
  error: Failure | null;
  timers: TimerView[];
  /** Rebuilt from the snapshot stored at this seq; 0: from the start. */
  fromSnapshot: number;
  storedHash: string;
  rebuiltHash: string;
  hashMatches: boolean;
}

export type Outcome = "moved" | "handled" | "ignored" | "failed";
export type LogKind =
  | "start"
  | "event"
  | "timer"
  | "task-answer"
  | "lock-answer"
  | "control"
  | "migration"
  | "step-failed"
  | "deleted";
export interface LogEntry {
  seq: number;
  kind: LogKind;
  type: string;
  at: number;
  actor: string;
  outcome: Outcome;
  reason: string | null;
  exited: string[];
  entered: string[];
  version: number;
  dedupeKey: string | null;
  /** Holder of the instance session in which it was sent. */
  session: string | null;
  /** Why the step failed; or, with another outcome, the first thing in it that did (an action, a guard, a send). */
  error: Failure | null;
}
export interface MicrostepView {
  index: number;
  event: { type: string; data?: Json } | null;
  candidates: Candidate[];
  taken: string[];
  exited: string[];
  entered: string[];
  actions: ActionRun[];
  changes: ContextChange[];
}
export interface LogEntryDetail extends LogEntry {
  instanceId: string;
  data: Json;
  messageId: string | null;
  stateHash: string;
  microsteps: MicrostepView[];
  logs: { label?: string; value: Json }[];
}
/** Proof of holding a lock, checked inside the writing transaction. */
export interface Fence {
  key: string;
  session: string;
  fence: number;
}
export interface SendResult {
  messageId: string;
  instanceId: string;
  state: "applied" | "queued";
  seq: number | null;
  outcome: Outcome | null;
  reason: string | null;
  status: InstanceStatus;
  configuration: string[];
  pending: number;
  replayed: boolean;
}
export interface MessageResult extends Omit<SendResult, "state"> {
  /** `refused`: it was not applied when its turn came, and is a dead letter. */
  state: SendResult["state"] | "refused";
  /** Why it was refused, or its step failed; null: neither. */
  error: Failure | null;
}

/** Statuses after which nothing is applied any more. */
export const isEnded = (status: string): boolean =>
  status === "completed" || status === "cancelled" || status === "terminated";

/** Statuses that keep a concurrency key, or a place in its line. */
export const isUnderWay = (status: string): boolean => !isEnded(status) && status !== "failed";

/** Statuses in which what waits is applied; the other unended ones keep it waiting. */
export const takesMessages = (status: string): boolean => status === "running" || status === "cancelling";

/** It waits for its concurrency key, and is not one that was redriven. */
export const hasNotBegun = ({ status, lastEvent }: Pick<InstanceRow, "status" | "lastEvent">): boolean =>
  status === "queued" && lastEvent === null;

export type Queued = Pick<InstanceRow, "status" | "chartId" | "concurrencyKey">;

/** The keys that those of them wait for who are queued. */
export const keysAwaited = (rows: readonly Queued[]): KeyName[] =>
  rows.flatMap(({ status, chartId, concurrencyKey: key }) =>
    status === "queued" && key !== null ? [{ scope: chartKeyScope(chartId), key }] : [],
  );

/** Who has the key that it waits for. */
export function blockerOf(row: Queued, held: readonly KeyRow[]): string | null {
  const [awaited] = keysAwaited([row]);
  const blocker = held.find(
    ({ scope, key, free }) => scope === awaited?.scope && key === awaited.key && free === 0,
  );
  return blocker?.instanceId ?? null;
}

export function viewInstanceSummary(
  row: Omit<InstanceRow, "snapshot">,
  labels: readonly LabelRow[],
  { held, conditions }: Waits = waitsForNothing,
): InstanceSummary {
  return {
    id: row.id,
    chartId: row.chartId,
    version: row.version,
    status: row.status as InstanceStatus,
    configuration: configurationOf(row),
    seq: row.seq,
    priority: row.priority,
    businessKey: row.businessKey,
    concurrencyKey: row.concurrencyKey,
    blockedBy: blockerOf(row, held),
    conditions: [...(conditions.get(row.id) ?? [])],
    labels: Object.fromEntries(
      labels.filter((label) => label.instanceId === row.id).map(({ key, value }) => [key, value]),
    ),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastEvent: row.lastEvent,
    error: failureOf(row),
  };
}

export function viewInstance(
  row: InstanceRow,
  labels: readonly LabelRow[],
  pending: number,
  waits?: Waits,
): InstanceView {
  const snapshot = parseSnapshot(row.snapshot);
  return {
    ...viewInstanceSummary(row, labels, waits),
    incarnation: row.incarnation,
    context: snapshot.context,
    output: snapshot.output ?? null,
    timers: viewTimers(snapshot),
    pending,
    session: row.session === null ? null : viewSession(row.session),
    parent: viewParent(row),
  };
}

export const parentOf = (row: Pick<InstanceRow, "parent">): ParentRef | null =>
  row.parent === null ? null : (JSON.parse(row.parent) as ParentRef);

function viewParent(row: InstanceRow): InstanceView["parent"] {
  const parent = parentOf(row);
  return parent && { instanceId: parent.instanceId, taskId: parent.taskId, place: parent.place };
}

function viewSession(text: string): { holder: string; until: number } {
  const { holder, until } = JSON.parse(text) as { holder: string; until: number };
  return { holder, until };
}

/** What the log names as the cause of a session's event. */
export const sessionCause = (holder: string): string => `session:${holder}`;

/** Soonest first. */
export const viewTimers = (snapshot: Snapshot): TimerView[] =>
  Object.entries(snapshot.timers)
    .map(([id, timer]) => ({
      id,
      dueAt: timer.dueAt,
      kind: timer.kind,
      state: timer.state ?? null,
      label: timerLabel(timer),
    }))
    .sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1));

/** The after key as the chart writes it, or the delayed event's type. */
export const timerLabel = (timer: ArmedTimer): string => timer.after ?? timer.event?.type ?? "";

export const viewLogEntry = (row: LogLine): LogEntry => ({
  seq: row.seq,
  kind: row.kind as LogKind,
  type: row.type,
  at: row.at,
  actor: row.actor,
  outcome: row.outcome as Outcome,
  reason: row.reason,
  exited: names(row.exited),
  entered: names(row.entered),
  version: row.version,
  dedupeKey: row.dedupeKey,
  session: row.cause?.startsWith(sessionCause("")) ? row.cause.slice(sessionCause("").length) : null,
  error: failureOf(row),
});

export const viewLogEntryDetail = (row: LogRow): LogEntryDetail => ({
  ...viewLogEntry(row),
  instanceId: row.instanceId,
  data: dataOf(row),
  messageId: row.messageId,
  stateHash: row.stateHash,
  microsteps: JSON.parse(row.trace) as MicrostepView[],
  logs: JSON.parse(row.logs) as { label?: string; value: Json }[],
});

export const parseSnapshot = (text: string): Snapshot => JSON.parse(text) as Snapshot;

export const failureOf = (row: { errorCode: string | null; errorMessage: string | null }): Failure | null =>
  row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? "" };

export const configurationOf = (row: Pick<InstanceRow, "configuration">): string[] =>
  names(row.configuration);

const names = (text: string): string[] => JSON.parse(text) as string[];

/** What came with the event, or the input of a start; of a timer, when it was due and how late it was. */
function dataOf({ input, at }: LogRow): Json {
  const given = JSON.parse(input) as { data?: Json; input?: Json; output?: Json; dueAt?: number };
  if (given.dueAt !== undefined) return { dueAt: given.dueAt, lateMs: Math.max(0, at - given.dueAt) };
  return given.data ?? given.input ?? given.output ?? null;
}
