/**
 * Messages that the runtime itself posts.
 */
import type { Json } from "@/lib/base/json";
import type { StepInput } from "@/lib/statechart/step";
import type { InstanceRow, MessageRow } from "@/lib/store/instances";
import { newMessageId } from "../new-id";

/** A message to another instance, to be addressed when all turns of the batch are done. */
export interface Outgoing {
  from: string;
  to: string;
  event: { type: string; data?: Json; sendid?: string; invokeid?: string };
  at: number;
}

/** A message from one instance to another, or to itself. */
export function internalMessage(
  sender: string,
  to: Pick<InstanceRow, "id" | "incarnation">,
  event: Outgoing["event"],
  at: number,
): MessageRow {
  const input: StepInput = {
    kind: "event",
    type: event.type,
    ...(event.data === undefined ? {} : { data: event.data }),
    ...(event.sendid === undefined ? {} : { sendid: event.sendid }),
    ...(event.invokeid === undefined ? {} : { invokeid: event.invokeid }),
    // SCXML: the address to answer to.
    origin: `#_scxml_${sender}`,
    origintype: "http://www.w3.org/TR/scxml/#SCXMLEventProcessor",
  };
  return {
    instanceId: to.id,
    incarnation: to.incarnation,
    messageId: newMessageId(),
    type: event.type,
    input: JSON.stringify(input),
    actor: `instance:${sender}`,
    cause: sender,
    enqueuedAt: at,
    dedupeScope: null,
    dedupeKey: null,
    expectedSeq: null,
    fences: null,
  };
}
