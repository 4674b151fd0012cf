/**
 * The durable runtime as one object: a verb for every call the product offers, each taking the actor that asks.
 *
 * Holds: a verb checks its permission before it reads anything; what it answers is committed. The invariants I1…I10 are
 *        in README.md.
 * Does not: know HTTP, status codes or schemas (lib/contract, lib/api).
 *
 * Arguments are one flat object (path parameters, query and body together). Optional ones may be given as undefined.
 */
import type { Actor } from "@/lib/access/actor";
import type { Json } from "@/lib/base/json";
import type { ActionRun, Candidate, ContextChange } from "@/lib/statechart/trace";

export interface Runtime {
  listCharts(actor: Actor, args: NoArgs): Promise<Page<ChartSummary>>;
  createChart(
    actor: Actor,
    args: { id: string; text: string; layout?: ChartLayout | undefined },
  ): Promise<ChartView>;
  getChart(actor: Actor, args: { chartId: string }): Promise<ChartView>;
  saveDraft(
    actor: Actor,
    args: { chartId: string; baseRevision: number; text: string; layout: ChartLayout },
  ): Promise<SavedDraft>;
  publishVersion(
    actor: Actor,
    args: {
      chartId: string;
      revision: number;
      note?: string | undefined;
      acceptPlaceholders?: boolean | undefined;
    },
  ): Promise<VersionView>;
  getVersion(actor: Actor, args: { chartId: string; version: number }): Promise<VersionView>;

  listInstances(
    actor: Actor,
    args: PageArgs & {
      chartId?: string | undefined;
      status?: InstanceStatus | undefined;
      state?: string | undefined;
      idPrefix?: string | undefined;
      businessKey?: string | undefined;
    },
  ): Promise<Page<InstanceSummary>>;
  startInstance(
    actor: Actor,
    args: Idempotent & {
      chartId: string;
      version?: number | undefined;
      id?: string | undefined;
      input?: Json | undefined;
      businessKey?: string | undefined;
      labels?: Record<string, string> | undefined;
      priority?: number | undefined;
    },
  ): Promise<InstanceView>;
  getInstance(actor: Actor, args: { instanceId: string }): Promise<InstanceView>;
  deleteInstance(actor: Actor, args: { instanceId: string }): Promise<{ id: string; seq: number }>;
  sendEvent(
    actor: Actor,
    args: Idempotent & {
      instanceId: string;
      type: string;
      data?: Json | undefined;
      expectedSeq?: number | undefined;
      fences?: Fence[] | undefined;
      waitMs?: number | undefined;
    },
  ): Promise<SendResult>;
  getMessage(actor: Actor, args: { instanceId: string; messageId: string }): Promise<SendResult>;
  getState(
    actor: Actor,
    args: { instanceId: string; seq?: number | undefined; at?: number | undefined },
  ): Promise<StateAt>;
  getLog(
    actor: Actor,
    args: { instanceId: string; before?: number | undefined; limit?: number | undefined },
  ): Promise<{ items: LogEntry[]; total: number }>;
  getLogEntry(actor: Actor, args: { instanceId: string; seq: number }): Promise<LogEntryDetail>;

  listLocks(
    actor: Actor,
    args: PageArgs & {
      status?: "held" | "expired" | "free" | "all" | undefined;
      search?: string | undefined;
    },
  ): Promise<Page<LockSummary> & { held: number; waiting: number; now: number }>;
  getLock(actor: Actor, args: { key: string }): Promise<LockView>;
  getLockLog(
    actor: Actor,
    args: { key: string; before?: string | undefined; limit?: number | undefined },
  ): Promise<{ items: LockLogEntry[]; total: number }>;
  acquireLock(
    actor: Actor,
    args: Idempotent & {
      key: string;
      session: string;
      holder: string;
      ttlMs?: number | undefined;
      waitMs?: number | undefined;
    },
  ): Promise<AcquireResult>;
  renewLock(
    actor: Actor,
    args: Idempotent & { key: string; session: string; fence: number; ttlMs?: number | undefined },
  ): Promise<RenewResult>;
  releaseLock(
    actor: Actor,
    args: Idempotent & { key: string; session: string; fence: number },
  ): Promise<ReleaseResult>;
  forceReleaseLock(
    actor: Actor,
    args: Idempotent & { key: string; expectedFence: number; reason: string },
  ): Promise<ForceReleaseResult>;

  getHealth(actor: Actor, args: NoArgs): Promise<Health>;

  /** Committed changes after `position` (null: from now on), oldest first, at most `limit`. Positions are opaque. */
  changesSince(position: string | null, limit: number): Promise<ChangesPage>;
  /**
   * Calls `listener` with every change committed from now on, by this process or another (those within 500 ms), in
   * position order. Returns the way to stop.
   */
  subscribe(listener: (changes: PositionedChange[]) => void): () => void;
  /** Starts the loops that step waiting mailboxes, fire timers and expire leases. Idempotent. */
  startWorkers(): void;
  /** Finishes the steps under way, ends waiting calls with `shutting-down`, stops loops, closes the store. */
  close(): Promise<void>;
}

export type NoArgs = Record<string, never>;
export interface PageArgs {
  cursor?: string | undefined;
  limit?: number | undefined;
}
export interface Idempotent {
  /** Names the call for safe repetition: a repeat gets the first answer. */
  idempotencyKey?: string | undefined;
}
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

interface Rectangle {
  x: number;
  y: number;
  w: number;
  h: number;
}
/** Drawn places, stored beside a chart and never looked into here. Shape of lib/diagram's Layout. */
export interface ChartLayout {
  direction: "right" | "down";
  states: Record<string, Rectangle & { collapsed?: boolean | undefined; pinned?: boolean | undefined }>;
  routes: Record<string, { points: { x: number; y: number }[]; label?: Rectangle | undefined }>;
}

export interface ChartSummary {
  id: string;
  version: number | null;
  revision: number;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
  instances: Record<string, number>;
}
export interface VersionSummary {
  version: number;
  hash: string;
  note: string | null;
  publishedAt: number;
  publishedBy: string;
  revision: number;
}
export interface ChartView extends ChartSummary {
  draft: { revision: number; text: string; layout: ChartLayout; savedAt: number; savedBy: string };
  versions: VersionSummary[];
}
export interface VersionView extends VersionSummary {
  chartId: string;
  text: string;
  layout: ChartLayout;
}
export interface SavedDraft {
  revision: number;
  savedAt: number;
}

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
  labels: Record<string, string>;
  createdAt: number;
  updatedAt: number;
  lastEvent: string | null;
  error: Failure | null;
}
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
  error: Failure | null;
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

export interface LockSummary {
  key: string;
  status: "held" | "expired" | "free";
  fence: number;
  holder: string | null;
  session: string | null;
  acquiredAt: number | null;
  renewedAt: number | null;
  expiresAt: number | null;
  ttlMs: number | null;
  waiters: number;
  longestWaitMs: number | null;
  health: "free" | "healthy" | "late" | "expired" | "holder-finished";
  instance: { id: string; status: string; configuration: string[] } | null;
  rejectedWrites: number;
}
export interface WaiterView {
  position: number;
  session: string;
  holder: string;
  since: number;
  givesUpAt: number | null;
}
export interface LockView extends LockSummary {
  queue: WaiterView[];
  now: number;
}
export type LockEventType =
  | "REQUESTED"
  | "ENQUEUED"
  | "ACQUIRED"
  | "RENEWED"
  | "RELEASED"
  | "EXPIRED"
  | "FORCE_RELEASED"
  | "WAIT_TIMEOUT"
  | "HANDOFF"
  | "WRITE_REJECTED"
  | "DELETED";
export interface LockLogEntry {
  seq: number;
  type: LockEventType;
  at: number;
  fence: number;
  holder: string | null;
  session: string | null;
  actor: string;
  reason: string | null;
  details: Record<string, string | number | boolean | null>;
}
export type AcquireResult =
  | { result: "acquired"; key: string; fence: number; expiresAt: number; replayed: boolean; valid: boolean }
  | { result: "busy"; key: string; holder: string; expiresAt: number; position: number };
export interface RenewResult {
  key: string;
  fence: number;
  expiresAt: number;
  replayed: boolean;
}
export interface ReleaseResult {
  result: "released" | "already-released" | "stale";
  key: string;
  fence: number;
  replayed: boolean;
}
export interface ForceReleaseResult {
  key: string;
  fence: number;
  previousFence: number;
  previousHolder: string | null;
  nextHolder: string | null;
  replayed: boolean;
}

export interface Health {
  status: "ok" | "degraded";
  database: "sqlite" | "postgresql";
  now: number;
}

export type Change =
  | { kind: "instance"; id: string; seq: number; status: string }
  | { kind: "lock"; key: string; fence: number }
  | { kind: "chart"; id: string; revision: number };
export interface PositionedChange {
  change: Change;
  position: string;
}
export interface ChangesPage {
  changes: PositionedChange[];
  /** Where to go on; equal to the last change's position when there was one. */
  position: string;
  /** The given position is not one of this store (any more): read everything anew, then go on from `position`. */
  resync: boolean;
}
