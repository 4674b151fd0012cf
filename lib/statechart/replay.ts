/**
 * A snapshot and what was logged after it → the snapshot now. No effect is repeated.
 *
 * Holds: replaying an instance's own entries gives the very states it had (I5): equal snapshotHash.
 */
import { macrostep } from "./macrostep";
import type { Machine } from "./machine";
import type { Snapshot } from "./snapshot";
import type { StepInput } from "./step";

export function replay(
  machine: Machine,
  snapshot: Snapshot,
  entries: readonly { input: StepInput; at: number; seq: number }[],
): Snapshot {
  let at = snapshot;
  for (const { input, at: time, seq } of entries)
    at = macrostep(machine, at, input, { at: time, seq }).snapshot;
  return at;
}
