/**
 * All active states of a configuration: its leaves and their ancestors; and the tags they carry.
 */
import type { CompiledState, Machine } from "./machine";

/** Names in document order; the root is left out unless it has an id or is all there is. */
export function activeStates(machine: Machine, configuration: readonly string[]): string[] {
  return [...activeSet(machine, configuration)].map(({ name }) => name).filter((name) => name !== "");
}

/** Tags of all active states, each once, in document order. */
export function activeTags(machine: Machine, configuration: readonly string[]): string[] {
  return [...new Set([...activeSet(machine, configuration)].flatMap((state) => state.tags))];
}

/** In document order, the root included. Names that the machine does not have are left out. */
export function activeSet(machine: Machine, configuration: readonly string[]): ReadonlySet<CompiledState> {
  const active = new Set<CompiledState>();
  for (const name of configuration) {
    for (let at = machine.states.get(name) ?? null; at !== null; at = at.parent) active.add(at);
  }
  return new Set([...active].sort((a, b) => a.order - b.order));
}
