/**
 * What the clients of a seed saw: what they asked for and what they were told. The check compares it with what is stored.
 */
import type { Json } from "@/lib/base/json";
import type { Fence } from "@/lib/runtime/instances/instance-views";

export interface SendSeen {
  client: number;
  /** Unique; the event carries it as `data.mark`. */
  mark: string;
  instanceId: string;
  type: string;
  key: string | null;
  expectedSeq: number | null;
  fences: Fence[];
  /** Of the world, before it was sent the first time. */
  commits: number;
  /** Which change of the database's clock was the last then. */
  began: number;
  /** How far apart the clock's times are from then until it was last answered. */
  spanMs: number;
  /** Token of the instance session it was sent in. */
  session: string | null;
  /** Sent together with others of this name: all or none. */
  together: string | null;
  /** No answer came to at least one try: it may have been done. */
  doubtful: boolean;
  answer:
    | { kind: "applied"; seq: number; outcome: string }
    | { kind: "queued" }
    | { kind: "refused"; code: string }
    | { kind: "none" };
}

export interface AnswerSeen {
  instanceId: string;
  taskId: string;
  mark: string;
  /** The claim's lease, as last told. */
  leaseUntil: number;
  /** The earliest that the database's clock said during the call. */
  askedAt: number;
  doubtful: boolean;
  answer: "succeeded" | "cancelled" | "lease-lost" | "none" | "replayed";
}

export interface History {
  /** What clients know of; children and forks join as they come. */
  instanceIds: string[];
  lockKeys: string[];
  sends: SendSeen[];
  answers: AnswerSeen[];
  /** Fences given, each to one session. */
  grants: { key: string; session: string; fence: number }[];
  /** Calls with a key: the answers that repeats got, and the clock's span over both. */
  repeats: { what: string; instanceId: string; first: Json; again: Json; spanMs: number }[];
  /** Instances of which a delete was asked for. */
  deleted: Set<string>;
  /** Instances that retention removed, at the seed's end: among the deleted, too. */
  forgotten: Set<string>;
  /** Their ids. */
  batches: Set<string>;
}

export const emptyHistory = (): History => ({
  instanceIds: [],
  lockKeys: [],
  sends: [],
  answers: [],
  grants: [],
  repeats: [],
  deleted: new Set(),
  forgotten: new Set(),
  batches: new Set(),
});
