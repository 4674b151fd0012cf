/**
 * XState's state value of a configuration: "idle", {work: "loading"}, {play: {sound: "on", picture: {}}}.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import type { CompiledState, Machine } from "./machine";
import { activeSet } from "./active-states";

export function stateValue(machine: Machine, configuration: readonly string[]): Json {
  const active = activeSet(machine, configuration);
  return active.size === 0 ? {} : valueOf(machine.root, active);
}

function valueOf(state: CompiledState, active: ReadonlySet<CompiledState>): Json {
  const children = state.children.filter((child) => active.has(child));
  const [only] = children;
  if (state.type === "compound" && only !== undefined && (only.type === "atomic" || only.type === "final")) {
    return only.key;
  }
  const value: JsonObject = {};
  for (const child of children) value[child.key] = valueOf(child, active);
  return value;
}
