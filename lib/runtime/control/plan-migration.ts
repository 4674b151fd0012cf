/**
 * A state of one chart version carried over to another, or why it can't be.
 *
 * Holds: what it says it will do is what the migration does: the dry run and the deed are this same function. States are
 *        found by name, or by the caller's mapping; nothing is guessed.
 */
import { LockstepError } from "@/lib/base/errors";
import type { JsonObject } from "@/lib/base/json";
import { activeSet } from "@/lib/statechart/active-states";
import type { CompiledState, Machine } from "@/lib/statechart/machine";
import { nearName } from "@/lib/statechart/near-name";
import { Run } from "@/lib/statechart/run";
import { timersOfEntries, type Snapshot } from "@/lib/statechart/snapshot";
import { bindContext } from "@/lib/statechart/start";
import type { StepOptions } from "@/lib/statechart/step";

/** `ok`: carried over; `needs-mapping`: say which state it is now; `blocked`: no mapping helps. */
export type MigrationVerdict = "ok" | "needs-mapping" | "blocked";
export interface MigrationPlan {
  /** The worst of all. */
  verdict: MigrationVerdict;
  /** Of each active state. */
  states: { state: string; to: string | null; verdict: MigrationVerdict; why: string | null }[];
  /** Armed timers that the other version doesn't know: they go. */
  timersDropped: string[];
  /** Context roots that the other version brings along, with their first values. */
  contextAdded: string[];
}

export interface PlannedMigration {
  plan: MigrationPlan;
  /** Null unless the verdict is `ok`. */
  snapshot: Snapshot | null;
}

export function planMigration(
  machine: Machine,
  before: Snapshot,
  mapping: Readonly<Record<string, string>>,
  options: StepOptions,
): PlannedMigration {
  const nameNow = (name: string): string => mapping[name] ?? name;
  const states = before.configuration.map((state) => {
    const to = nameNow(state);
    const why = whyNot(machine, to);
    return {
      state,
      to: why === null ? to : null,
      verdict: why === null ? "ok" : "needs-mapping",
      why,
    } as const;
  });
  const lost = Object.entries(before.invocations).filter(([id, { state, src }]) => {
    const invokes = machine.states.get(nameNow(state))?.invokes ?? [];
    return !invokes.some((invoke) => invoke.id === id && invoke.src === src);
  });
  const blocked = lost.map(([id, { state }]) => ({
    state,
    to: null,
    verdict: "blocked" as const,
    why: `its invocation ${id} is under way and the other version has none like it there: wait until it has ended, or publish a version that keeps it`,
  }));
  const open = states.every(({ verdict }) => verdict === "ok");
  const configuration = states.map(({ state }) => nameNow(state));
  const broken = open && configuration.length > 0 ? whyIllegal(machine, configuration) : null;
  if (broken) blocked.push({ state: configuration.join(", "), to: null, verdict: "blocked", why: broken });

  const timers = Object.entries(before.timers).map(([id, timer]) => {
    if (timer.kind === "send") return { id, timer, kept: true };
    const state = nameNow(timer.state ?? "");
    const kept = machine.states.get(state)?.timers.some(({ key }) => key === timer.after) ?? false;
    return { id, timer: { ...timer, state }, kept };
  });
  const added = machine.initialContext
    .map(([root]) => root)
    .filter((root) => !Object.hasOwn(before.context, root));
  const plan: MigrationPlan = {
    verdict: blocked.length > 0 ? "blocked" : open ? "ok" : "needs-mapping",
    states: [...states, ...blocked],
    timersDropped: timers.flatMap(({ timer, kept }) => (kept ? [] : [timer.after ?? ""])),
    contextAdded: added,
  };
  if (plan.verdict !== "ok") return { plan, snapshot: null };

  const generations = Object.fromEntries(
    Object.entries(before.generations).map(([name, generation]) => [nameNow(name), generation]),
  );
  const armed = timers.flatMap(({ id, timer, kept }) => (kept ? [[id, timer] as const] : []));
  const renamed: Snapshot = {
    ...before,
    configuration: inOrder(machine, configuration),
    history: Object.fromEntries(
      Object.entries(before.history)
        .map(([name, kept]) => [nameNow(name), kept.map(nameNow)] as const)
        .filter(([name, kept]) => machine.states.has(name) && kept.every((each) => machine.states.has(each))),
    ),
    generations,
    invocations: Object.fromEntries(
      Object.entries(before.invocations).map(([id, invocation]) => {
        const state = nameNow(invocation.state);
        const index = machine.states.get(state)?.invokes.find((invoke) => invoke.id === id)?.index;
        return [id, { ...invocation, state, index: index ?? invocation.index }];
      }),
    ),
    timers: timersOfEntries(armed, generations),
  };
  return { plan, snapshot: { ...renamed, ...contextOf(machine, renamed, options) } };
}

/** The states of one side of a mapping, and the words for one that is not among them: `version 2 has no state`. */
export interface KnownStates {
  lacking: string;
  names: ReadonlySet<string>;
}

export const statesOf = (machine: Machine): Set<string> =>
  new Set([...machine.states.keys()].filter((name) => name !== ""));

/** Throws `bad-request` with {unknown} when a name of the mapping is no state of its side. */
export function requireMapping(
  mapping: Readonly<Record<string, string>>,
  from: KnownStates,
  to: KnownStates,
): void {
  const unknownOf = (written: readonly string[], { lacking, names }: KnownStates) =>
    [...new Set(written)]
      .filter((state) => !names.has(state))
      .map((state) => ({ state, lacking, near: nearName(state, names) }));
  const unknown = [...unknownOf(Object.keys(mapping), from), ...unknownOf(Object.values(mapping), to)];
  if (unknown.length === 0) return;
  const told = unknown.map(
    ({ state, lacking, near }) => `${lacking} ${state}${near === null ? "" : ` (did you mean ${near}?)`}`,
  );
  throw new LockstepError("bad-request", `mapping: ${told.join("; ")}.`, {
    details: { field: "mapping", unknown: unknown.map(({ state, near }) => ({ state, near })) },
  });
}

function whyNot(machine: Machine, name: string): string | null {
  const state = machine.states.get(name);
  if (!state) return `the other version has no state ${name}`;
  if (state.type === "history") return `${name} is a history state there: nobody stays in one`;
  if (state.type === "compound" || state.type === "parallel") {
    return `${name} has states inside it there: say which of them`;
  }
  return null;
}

/** SCXML 3.11: a legal configuration has one active child in every compound state and all in every parallel one. */
function whyIllegal(machine: Machine, configuration: readonly string[]): string | null {
  const active = activeSet(machine, configuration);
  const isReal = (child: CompiledState): boolean => child.type !== "history";
  for (const state of active) {
    const children = state.children.filter(isReal);
    const count = children.filter((child) => active.has(child)).length;
    const name = state.name === "" ? "the chart" : state.name;
    if (state.type === "compound" && count !== 1)
      return `${name} would have ${count} active states instead of one: choose states that can be active together`;
    if (state.type === "parallel" && count !== children.length) {
      return `the parallel state ${name} would have ${count} of ${children.length} regions active: choose states outside of it or one in each region`;
    }
  }
  return null;
}

const inOrder = (machine: Machine, names: readonly string[]): string[] =>
  [...new Set(names)].sort(
    (a, b) => (machine.states.get(a)?.order ?? 0) - (machine.states.get(b)?.order ?? 0),
  );

/** What is there stays as it is; what is new gets its first value. */
function contextOf(
  machine: Machine,
  snapshot: Snapshot,
  options: StepOptions,
): { context: JsonObject; unbound?: string[] } {
  const run = new Run(machine, snapshot, options);
  bindContext(run, snapshot.context);
  const unbound = machine.lateRoots.filter(
    (root) => !Object.hasOwn(snapshot.context, root) || snapshot.unbound?.includes(root),
  );
  return { context: { ...run.context, ...snapshot.context }, ...(unbound.length > 0 ? { unbound } : {}) };
}
