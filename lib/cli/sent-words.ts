import type { MessageResult, SendResult } from "@/lib/contract/instances";
import { stateOf } from "./control-instance";

/** What became of `what`, and how its instance is now. */
export function sentWords(what: string, sent: SendResult | MessageResult): string {
  const { messageId, instanceId, state, seq, outcome, reason, status, configuration, pending, replayed } =
    sent;
  const now = `${instanceId} is ${stateOf(status, configuration)}`;
  if (state === "queued") return `${what} is queued as ${messageId}, ${pending} pending; ${now}`;
  if (state === "refused") {
    const message = "error" in sent ? `: ${sent.error?.message}` : "";
    return `${what} was refused (${reason})${message}; ${now}`;
  }
  const why = reason === null ? "" : ` (${reason})`;
  return `${what} was applied${replayed ? " before" : ""}, #${seq}: ${outcome}${why}; ${now}`;
}
