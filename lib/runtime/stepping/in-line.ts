/**
 * What an instance in line does when its concurrency key is its: kept with its place, so that nothing has to be read or worked
 * out then.
 */
import type { MessageRow } from "@/lib/store/instances";
import type { ControlInput } from "../control/apply-control";
import type { Start } from "./turn";

/** What a redrive puts into its entry, and the message that it applies again before all others. */
export interface Repetition {
  input: ControlInput;
  first: MessageRow | null;
}

export type Then = { kind: "start"; start: Start } | ({ kind: "redrive"; actor: string } & Repetition);
