/**
 * From log entries to counts: how many instances entered and left each state, per minute.
 *
 * Holds: an entry's `exited` and `entered` add up to the change of its configuration (Turn sees to it); where the states left
 *        are of another version or not said (migration, deletion), the state before the entry is rebuilt.
 */
import { activeStates } from "@/lib/statechart/active-states";
import {
  minuteOf,
  type FleetDelta,
  type FleetMoves,
  type FleetState,
  type LoneMove,
} from "@/lib/store/fleet";
import type { Store } from "@/lib/store/store";
import type { ControlInput } from "../control/apply-control";
import type { Machines } from "../charts/machines";
import { rebuildState } from "../instances/rebuild-state";

export async function fleetDeltasOf(
  store: Store,
  machines: Machines,
  { together, lone }: FleetMoves,
): Promise<FleetDelta[]> {
  const counts = new Counts();
  for (const { chartId, version, minute, exited, entered, count } of together) {
    const of = { chartId, version, minute };
    for (const state of namesIn(entered)) counts.add({ ...of, state }, count, 0);
    for (const state of namesIn(exited)) counts.add({ ...of, state }, 0, count);
  }
  for (const move of lone) {
    const { left, entered } = await statesOf(store, machines, move);
    const minute = minuteOf(move.at);
    for (const state of left) counts.add({ ...state, minute }, 0, 1);
    for (const state of entered) counts.add({ ...state, minute }, 1, 0);
  }
  return counts.deltas();
}

async function statesOf(
  store: Store,
  machines: Machines,
  { instanceId, seq, chartId, version, input }: LoneMove,
): Promise<{ left: FleetState[]; entered: FleetState[] }> {
  const before = await rebuildState(store, machines, instanceId, seq - 1);
  const left: FleetState[] = [];
  if (before) {
    const { entry, snapshot } = before;
    const machine = await machines.load(entry);
    for (const state of activeStates(machine, snapshot.configuration))
      left.push({ chartId: entry.chartId, version: entry.version, state });
  }
  const given = JSON.parse(input) as Partial<Extract<ControlInput, { snapshot: unknown }>>;
  if (!given.snapshot) return { left, entered: [] };
  const machine = await machines.load({ chartId, version });
  const entered = activeStates(machine, given.snapshot.configuration);
  return { left, entered: entered.map((state) => ({ chartId, version, state })) };
}

/** The root is everybody's, and nameless unless it has an id. */
const namesIn = (list: string): string[] => (JSON.parse(list) as string[]).filter((name) => name !== "");

class Counts {
  private readonly kept = new Map<string, FleetDelta>();

  add(of: FleetState & { minute: number }, entered: number, left: number): void {
    const key = JSON.stringify([of.chartId, of.version, of.state, of.minute]);
    const known = this.kept.get(key);
    if (known) {
      known.entered += entered;
      known.left += left;
    } else this.kept.set(key, { ...of, entered, left });
  }

  deltas(): FleetDelta[] {
    return [...this.kept.values()];
  }
}
