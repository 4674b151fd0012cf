/**
 * Names that XState gives to its own events, turned into SCXML's, which charts use.
 */
import type { StateNames } from "./state-names";

/** The descriptor or event type in a chart; null when a chart has no such event. */
export function eventName(type: string, names: StateNames): string | null {
  for (const [prefix, ours] of wildcards) if (type === prefix) return ours;
  for (const prefix of ["xstate.done.state.", "done.state."])
    if (type.startsWith(prefix)) {
      const id = type.slice(prefix.length);
      return `done.state.${names.find(id) ?? id}`;
    }
  for (const prefix of ["xstate.done.actor.", "done.invoke."])
    if (type.startsWith(prefix)) return `done.invoke.${invokeId(type.slice(prefix.length), names)}`;
  for (const prefix of ["xstate.error.actor.", "error.platform."])
    if (type.startsWith(prefix)) return `error.invoke.${invokeId(type.slice(prefix.length), names)}`;
  return type.startsWith("xstate.") ? null : type;
}

const wildcards: readonly (readonly [string, string])[] = [
  ["xstate.done.*", "done.*"],
  ["xstate.done.state.*", "done.state.*"],
  ["xstate.done.actor.*", "done.invoke.*"],
  ["xstate.error.*", "error.*"],
  ["xstate.error.actor.*", "error.invoke.*"],
];

/** XState names an invocation without id `<index>.<state id>`, a chart `<state name>:<index>`. */
function invokeId(id: string, names: StateNames): string {
  const parts = /^(\d+)\.(.+)$/s.exec(id);
  const state = parts?.[2] === undefined ? undefined : names.find(parts[2]);
  return state === undefined ? id : `${state}:${parts?.[1] ?? "0"}`;
}
