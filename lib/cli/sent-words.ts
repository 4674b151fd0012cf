import type { SendResult } from "@/lib/contract/instances";
import { stateOf } from "./control-instance";

/** What became of `what`, and how its instance is now. */
export function sentWords(what: string, sent: SendResult): string {
  const { messageId, instanceId, state, seq, outcome, reason, status, configuration, pending, replayed } =
    sent;
  const now = `${instanceId} is ${stateOf(status, configuration)}`;
  if (state === "queued") return `${what} is queued as ${messageId}, ${pending} pending; ${now}`;
  const why = reason === null ? "" : ` (${reason})`;
  return `${what} was applied${replayed ? " before" : ""}, #${seq}: ${outcome}${why}; ${now}`;
}
