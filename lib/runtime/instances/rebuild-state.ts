/**
 * State at a seq, rebuilt: the nearest stored snapshot before it, then every logged input again, by the chart version of
 * each entry.
 *
 * Holds: I5 what comes out has the hash that the step stored; where it hasn't, the caller is told.
 */
import { must } from "@/lib/base/assert";
import { LockstepError } from "@/lib/base/errors";
import { snapshotHash, type Snapshot } from "@/lib/statechart/snapshot";
import type { StepInput } from "@/lib/statechart/step";
import type { LogInput } from "@/lib/store/instances";
import type { Store } from "@/lib/store/store";
import { applyControl, type ControlInput } from "../control/apply-control";
import { applyInput, applyStart, type StartInput } from "../stepping/apply-input";
import { parseSnapshot } from "./instance-views";
import { engineSemantics } from "../limits";
import type { Machines } from "../charts/machines";

export interface RebuiltState {
  snapshot: Snapshot;
  /** seq of the stored snapshot it began from, 0 for the start. */
  fromSnapshot: number;
  /** The entry at that seq. */
  entry: LogInput;
  rebuiltHash: string;
}

/** Snapshots are stored every 100 entries, so more than this many between two is a defect, not a long history. */
const entriesMax = 10_000;

/** Null when the instance has no entry with that seq, or what it was built on is not kept. */
export async function rebuildState(
  store: Store,
  machines: Machines,
  instanceId: string,
  seq: number,
): Promise<RebuiltState | null> {
  let stored = await store.snapshotBefore(instanceId, seq);
  // From one before it, to know the entry's own facts when the snapshot is of this very seq.
  let entries = await store.logInputs(instanceId, (stored?.seq ?? 1) - 1, seq, entriesMax);
  if (stored && entries[0]?.seq !== stored.seq) {
    // Of an earlier life, whose log is being removed: this one has none yet.
    stored = null;
    entries = await store.logInputs(instanceId, 0, seq, entriesMax);
  }
  // What is left of earlier lives may have lost its own beginning.
  if (!stored) entries = entries.slice(Math.max(0, entries.findLastIndex(isBeginning)));
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || last?.seq !== seq) return null;
  // Retention has removed what it was built on.
  if (entries.length !== seq - first.seq + 1 || (!stored && !isBeginning(first))) return null;
  const from = stored?.seq ?? 0;
  let snapshot = stored ? parseSnapshot(stored.text) : null;
  for (const entry of entries) {
    if (entry.seq > from) snapshot = await replayEntry(machines, snapshot, entry);
  }
  const rebuilt = must(snapshot, "an instance's first entry is its start");
  return { snapshot: rebuilt, fromSnapshot: from, entry: last, rebuiltHash: snapshotHash(rebuilt) };
}

/** Needs no state before it. */
const isBeginning = ({ kind, input }: LogInput): boolean =>
  kind === "start" ||
  ((kind === "control" || kind === "migration" || kind === "deleted") &&
    "snapshot" in (JSON.parse(input) as object));

async function replayEntry(machines: Machines, before: Snapshot | null, entry: LogInput): Promise<Snapshot> {
  if (entry.kind === "deleted") {
    const { snapshot } = JSON.parse(entry.input) as { snapshot?: Snapshot };
    return must(snapshot ?? before, "what was deleted had begun, or has its state with it");
  }
  if (entry.semantics !== engineSemantics) {
    throw new LockstepError(
      "semantics-unsupported",
      `Entry ${entry.seq} was made by engine rules ${entry.semantics}; this version replays ${engineSemantics}.`,
      { details: { seq: entry.seq, semantics: entry.semantics } },
    );
  }
  const machine = await machines.load(entry);
  const options = { at: entry.at, seq: entry.seq, trace: false };
  if (entry.kind === "start") {
    return applyStart(machine, JSON.parse(entry.input) as StartInput, options).snapshot;
  }
  if (entry.kind === "control" || entry.kind === "migration") {
    const input = JSON.parse(entry.input) as ControlInput;
    if ("snapshot" in input) return input.snapshot;
    return applyControl(machine, must(before, "what is controlled has begun"), input, options).result
      .snapshot;
  }
  const input = JSON.parse(entry.input) as StepInput;
  return applyInput(machine, must(before, "an instance's first entry is its start"), input, options).snapshot;
}
