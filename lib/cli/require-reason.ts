/** `--reason`, where a deed is one that log and audit keep with its reason; `command` as it was called, for the refusal. */
import { UsageError } from "./usage";

export function requireReason(command: string, reason: string | undefined): string {
  if (reason !== undefined && reason.trim() !== "") return reason;
  throw new UsageError(`${command} needs --reason: log and audit keep it.`);
}
