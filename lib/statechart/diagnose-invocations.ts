/**
 * Diagnostics of what a chart asks of the world: tasks nobody declared, failures and lost locks that nothing handles, locks
 * that are used where they are not held.
 */
import { isJsonObject, type Json } from "@/lib/base/json";
import type { Diagnostic } from "./diagnostic";
import type { Invoke } from "./document";
import { listOf, type CompiledState, type Machine } from "./machine";
import { nearName } from "./near-name";
import { label } from "./resolve-target";

const builtInSources = ["http", "lock", "chart", "each", "human"];

interface Written {
  state: CompiledState;
  index: number;
  invoke: Invoke;
  id: string;
  src: string;
  field: string;
}

export function diagnoseInvocations(machine: Machine): Diagnostic[] {
  const written = machine.ordered.flatMap(invocationsOf);
  if (written.length === 0) return [];
  const holders = holdersOf(written);
  return written.flatMap((one) => [
    ...unknownTask(one, machine),
    ...withoutOnError(one),
    ...withoutLockLost(one),
    ...locksNotHeld(one, holders),
  ]);
}

const invocationsOf = (state: CompiledState): Written[] =>
  listOf(state.node.invoke).map((invoke, index) => ({
    state,
    index,
    invoke,
    id: invoke.id ?? `${state.name}:${index}`,
    src: typeof invoke.src === "string" ? invoke.src : invoke.src.placeholder,
    field: `invoke/${index}`,
  }));

function unknownTask({ state, invoke, src, field }: Written, machine: Machine): Diagnostic[] {
  const { tasks } = machine.chart;
  if (typeof invoke.src !== "string" || builtInSources.includes(src) || Object.hasOwn(tasks ?? {}, src))
    return [];
  const near = nearName(src, [...Object.keys(tasks ?? {}), ...builtInSources]);
  return [
    {
      code: "unknown-task",
      severity: "error",
      at: { state: state.name, field: `${field}/src` },
      message: `there is no task named "${src}"${near === null ? `: declare it in \`tasks\`, or use ${builtInSources.join(", ")}` : `: did you mean \`${near}\`?`}`,
      fix:
        near === null
          ? { title: `Declare the task ${src}`, edit: { declare: "tasks", name: src, value: {} } }
          : { title: `Use ${near}`, edit: { set: `${field}/src`, state: state.name, to: near } },
    },
  ];
}

/** Whether the state or one above it has a transition for one of these names. */
const handles = (state: CompiledState, names: readonly string[]): boolean =>
  state.lineage.some(({ node }) => names.some((name) => Object.hasOwn(node.on ?? {}, name)));

function withoutOnError({ state, invoke, id, src, field }: Written): Diagnostic[] {
  const caught = [`error.invoke.${id}`, `error.invoke.${id}.*`, "error.invoke.*", "error.*", "*"];
  if (listOf(invoke.onError).length > 0 || handles(state, caught)) return [];
  return [
    {
      code: "invoke-without-onerror",
      severity: "warning",
      at: { state: state.name, field },
      message: `the invocation of ${src} in "${label(state)}" has no \`onError\`: when it fails, the instance fails`,
      fix: {
        title: "Log its failure and stay",
        edit: {
          set: `${field}/onError`,
          state: state.name,
          to: { actions: { log: "event.data", label: `${src} failed` } },
        },
      },
    },
  ];
}

function withoutLockLost({ state, invoke, src, field }: Written): Diagnostic[] {
  if (src !== "lock" || typeof invoke.src !== "string") return [];
  if (listOf(invoke.onEvent).length > 0 || handles(state, ["lock.lost", "lock.lost.*", "lock.*", "*"]))
    return [];
  return [
    {
      code: "lock-without-lost",
      severity: "warning",
      at: { state: state.name, field },
      message: `the lock of "${label(state)}" can be lost (by force, or at holdMax) and nothing handles \`lock.lost\``,
      fix: {
        title: "Log that it was lost",
        edit: {
          set: "on/lock.lost",
          state: state.name,
          to: { actions: { log: "event.data", label: "lock lost" } },
        },
      },
    },
  ];
}

/** Key as written → the states that hold it. */
function holdersOf(written: readonly Written[]): Map<string, CompiledState[]> {
  const holders = new Map<string, CompiledState[]>();
  for (const { state, invoke } of written) {
    if (invoke.src !== "lock" || !isJsonObject(invoke.input)) continue;
    for (const key of textsOf(invoke.input.keys)) {
      const same = holders.get(key);
      if (same === undefined) holders.set(key, [state]);
      else same.push(state);
    }
  }
  return holders;
}

/** Work that names a lock (`input.lock`, `locks`, `fences[].key`) that this chart holds, but not here. */
function locksNotHeld(
  { state, invoke, src, field }: Written,
  holders: ReadonlyMap<string, readonly CompiledState[]>,
): Diagnostic[] {
  if (src === "lock" || !isJsonObject(invoke.input)) return [];
  const { lock, locks, fences } = invoke.input;
  const used: [field: string, keys: string[]][] = [
    ["lock", textsOf(lock)],
    ["locks", textsOf(locks)],
    [
      "fences",
      Array.isArray(fences) ? fences.flatMap((one) => (isJsonObject(one) ? textsOf(one.key) : [])) : [],
    ],
  ];
  return used.flatMap(([name, keys]) =>
    keys.flatMap((key): Diagnostic[] => {
      const holding = holders.get(key);
      if (holding === undefined || holding.some((holder) => state.lineage.includes(holder))) return [];
      return [
        {
          code: "lock-not-held",
          severity: "warning",
          at: { state: state.name, field: `${field}/input/${name}` },
          message: `"${label(state)}" uses the lock \`${key}\`, which only ${holding.map((one) => `"${label(one)}"`).join(", ")} holds: move it inside`,
        },
      ];
    }),
  );
}

const textsOf = (value: Json | undefined): string[] =>
  typeof value === "string"
    ? [value]
    : Array.isArray(value)
      ? value.filter((one) => typeof one === "string")
      : [];
