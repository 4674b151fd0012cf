/**
 * Which event types a person may want to send: those the active states have handlers for, and all the chart speaks of.
 */
import { activeSet } from "./active-states";
import type { Machine } from "./machine";
import type { Snapshot } from "./snapshot";

export interface EventsOf {
  /** Descriptors (`pay`, `a.*`, `*`) handled by an active state, innermost last in document order, each once. */
  active: string[];
  /** All descriptors of the chart, and the types named in `schemas.events`, sorted. */
  all: string[];
}

export function eventsOf(machine: Machine, snapshot: Pick<Snapshot, "configuration">): EventsOf {
  const active = [...activeSet(machine, snapshot.configuration)].flatMap((state) =>
    state.handlers
      .filter(({ kind, forbidden }) => kind === "on" && !forbidden)
      .map(({ descriptor }) => descriptor),
  );
  const all = machine.ordered.flatMap((state) =>
    state.handlers.filter(({ kind }) => kind === "on").map(({ descriptor }) => descriptor),
  );
  const named = Object.keys(machine.chart.schemas?.events ?? {});
  return { active: [...new Set(active)], all: [...new Set([...all, ...named])].sort() };
}
