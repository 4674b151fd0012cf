/**
 * Several events that wait in the mailbox as one message: all are applied when its turn comes, one right after another, or
 * none is.
 *
 * Holds: I2 all are tried before the first is recorded; one at fault refuses the message, which then is a dead letter.
 *        The last event has the message's own id, so that its outcome is the message's; the others' are made from it.
 */
import { LockstepError } from "@/lib/base/errors";
import type { Json, JsonObject } from "@/lib/base/json";
import type { Machine } from "@/lib/statechart/machine";
import type { Snapshot } from "@/lib/statechart/snapshot";
import type { StepInput, StepOptions, StepResult } from "@/lib/statechart/step";
import type { MessageRow } from "@/lib/store/instances";
import {
  takesMessages,
  type InstanceStatus,
  type Outcome,
  type SendResult,
} from "../instances/instance-views";
import { applyInput } from "./apply-input";

/** What the message holds in the place of one event. */
export interface Together {
  kind: "events";
  data: { type: string; data?: Json }[];
}

/** An instance between two steps. */
export interface Standing {
  snapshot: Snapshot;
  status: string;
}

/** In the order of the events. */
export const idsOf = (messageId: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    index === count - 1 ? messageId : `${messageId}.${index + 1}`,
  );

/** The message that an event of that id waits in, if there is such an event: `isOf` tells. */
export const waitsIn = (messageId: string): string => messageId.replace(/\.\d+$/, "");

type Stored = Pick<MessageRow, "messageId" | "input">;

export const eventsOf = ({ input }: Pick<Stored, "input">): Together["data"] | null => {
  const held = JSON.parse(input) as StepInput | Together;
  return held.kind === "events" ? held.data : null;
};

/** The message itself, or one of the events that wait as it. */
export const isOf = (messageId: string, stored: Stored): boolean =>
  messageId === stored.messageId ||
  idsOf(stored.messageId, eventsOf(stored)?.length ?? 1).includes(messageId);

export interface SendEventsResult {
  instanceId: string;
  /** `queued`: they wait in the mailbox as one message, whose id is the last one's. */
  state: "applied" | "queued";
  /** Of the last one; null while they wait. */
  seq: number | null;
  status: InstanceStatus;
  configuration: string[];
  /** In the order of the events. */
  messageIds: string[];
  /** As well; none while they wait. */
  results: AppliedEvent[];
  pending: number;
  replayed: boolean;
}

export interface AppliedEvent {
  messageId: string;
  seq: number;
  outcome: Outcome;
  reason: string | null;
}

/** `of`: what became of the message. */
export const sentTogether = (
  of: SendResult,
  count: number,
  results: AppliedEvent[] = [],
): SendEventsResult => ({
  instanceId: of.instanceId,
  state: of.state,
  seq: of.seq,
  status: of.status,
  configuration: of.configuration,
  messageIds: idsOf(of.messageId, count),
  results,
  pending: of.pending,
  replayed: of.replayed,
});

/** How each would change the state, or why none is to. `statusAfter`: the instance's, by the one before and a step. */
export function tryTogether(
  machine: Machine,
  before: Standing,
  { data: events }: Together,
  options: StepOptions,
  statusAfter: (before: Standing, result: StepResult) => InstanceStatus,
): { input: StepInput; result: StepResult }[] | LockstepError {
  const tried: { input: StepInput; result: StepResult }[] = [];
  let now: Standing = before;
  for (const [index, event] of events.entries()) {
    if (!takesMessages(now.status)) return endedBefore(index, now.status);
    const input: StepInput = { kind: "event", ...event };
    const result = applyInput(machine, now.snapshot, input, { ...options, seq: options.seq + index });
    if (result.outcome.outcome === "failed") {
      return failedAt(index, result.error ?? { code: "internal", message: "" });
    }
    tried.push({ input, result });
    now = { snapshot: result.snapshot, status: statusAfter(now, result) };
  }
  return tried;
}

export const failedAt = (
  index: number,
  { code, message }: { code: string; message: string },
): LockstepError => atIndex(index, "step-failed", `its step failed: ${message}`, { code });

export const endedBefore = (index: number, status: string): LockstepError =>
  atIndex(index, "instance-ended", `the events before it end the instance (${status})`, {});

export const atIndex = (
  index: number,
  code: LockstepError["code"],
  why: string,
  details: JsonObject,
): LockstepError =>
  new LockstepError(code, `None of the events was applied, because of event ${index}: ${why}`, {
    details: { ...details, index },
  });
