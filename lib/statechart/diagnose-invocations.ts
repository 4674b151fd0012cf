/**
 * Diagnostics of what a chart asks of the world: tasks nobody declared, failures and lost locks that nothing handles, locks
 * that are used where they are not held.
 */
import { isJsonObject, type Json } from "@/lib/base/json";
import type { Diagnostic } from "./diagnostic";
import type { Invoke, TaskDefaults } from "./document";
import { listOf, type CompiledState, type Machine } from "./machine";
import { nearName } from "./near-name";
import { label } from "./resolve-target";
import { escapeSegment } from "./transition-id";

const builtInSources = ["http", "lock", "chart", "each", "human"];
/** No work that somebody claims: nothing is undone by them, and no concurrency key is waited for. */
const notClaimed = builtInSources.filter((src) => src !== "http");

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
  const holders = holdersOf(written);
  return [...taskProblems(machine), ...written.flatMap((one) => judged(one, holders, machine))];
}

const judged = (
  one: Written,
  holders: ReadonlyMap<string, readonly CompiledState[]>,
  machine: Machine,
): Diagnostic[] => [
  ...unknownTasks(one, machine),
  ...undoneByNobody(one.invoke.compensate, { state: one.state.name, field: one.field }),
  ...keyUnheeded(one),
  ...withoutOnError(one),
  ...withoutLockLost(one),
  ...locksNotHeld(one, holders),
];

const invocationsOf = (state: CompiledState): Written[] =>
  listOf(state.node.invoke).map((invoke, index) => ({
    state,
    index,
    invoke,
    id: invoke.id ?? `${state.name}:${index}`,
    src: typeof invoke.src === "string" ? invoke.src : invoke.src.placeholder,
    field: `invoke/${index}`,
  }));

/** The invocation's own, and that of what undoes it. */
function unknownTasks({ state, invoke, field }: Written, machine: Machine): Diagnostic[] {
  const { compensate } = invoke;
  return [
    ...unknownTask(invoke, { state: state.name, field: `${field}/src` }, machine),
    ...(compensate === undefined
      ? []
      : unknownTask(compensate, { state: state.name, field: `${field}/compensate/src` }, machine)),
  ];
}

function unknownTask({ src }: Invoke, at: { state: string; field: string }, machine: Machine): Diagnostic[] {
  const tasks = machine.chart.tasks ?? {};
  if (typeof src !== "string" || builtInSources.includes(src) || Object.hasOwn(tasks, src)) return [];
  const near = nearName(src, [...Object.keys(tasks), ...builtInSources]);
  return [
    {
      code: "unknown-task",
      severity: "error",
      at,
      message: `there is no task named "${src}"${near === null ? `: declare it in \`tasks\`, or use ${builtInSources.join(", ")}` : `: did you mean \`${near}\`?`}`,
      fix:
        near === null
          ? { title: `Declare the task ${src}`, edit: { declare: "tasks", name: src, value: {} } }
          : { title: `Use ${near}`, edit: { set: at.field, state: at.state, to: near } },
    },
  ];
}

function undoneByNobody(
  compensate: Invoke | undefined,
  { state, field }: { state: string; field: string },
): Diagnostic[] {
  const src = compensate?.src;
  if (typeof src !== "string" || !notClaimed.includes(src)) return [];
  return [
    {
      code: "compensation-not-a-task",
      severity: "error",
      at: { state, field: `${field}/compensate/src` },
      message: `nothing can be undone by \`${src}\`: use http, or a task of your own that does it`,
    },
  ];
}

function keyUnheeded({ state, invoke, src, field }: Written): Diagnostic[] {
  if (invoke.concurrencyKey === undefined || typeof invoke.src !== "string" || !notClaimed.includes(src))
    return [];
  const instead = {
    chart: ": write it in the settings of the chart that is started",
    each: ": write it in the settings of the chart that is started",
    lock: ": the lock's own keys are what is waited for",
    human: "",
  }[src];
  return [
    {
      code: "concurrency-key-unheeded",
      severity: "warning",
      at: { state: state.name, field: `${field}/concurrencyKey` },
      message: `\`${src}\` is begun whatever its \`concurrencyKey\`${instead ?? ""}`,
    },
  ];
}

const taskFields = ["description", "schemas", "retry", "timeout", "concurrencyKey", "compensate"];

/** Undone by tasks that exist; keys of a task's own are its business, a slip of a known one is not. */
function taskProblems(machine: Machine): Diagnostic[] {
  return Object.entries(machine.chart.tasks ?? {}).flatMap(([name, task]) => {
    const field = `tasks/${escapeSegment(name)}`;
    const { compensate } = task as TaskDefaults;
    const slips = Object.keys(task).flatMap((key): Diagnostic[] => {
      const near = taskFields.includes(key) ? null : nearName(key, taskFields);
      if (near === null || Object.hasOwn(task, near)) return [];
      const place = `${field}/${escapeSegment(key)}`;
      return [
        {
          code: "unknown-key",
          severity: "warning",
          at: { state: "", field: place },
          message: `the task ${name} has a key \`${key}\`, which nothing reads: did you mean \`${near}\`?`,
          fix: { title: `Rename to ${near}`, edit: { rename: place, state: "", to: near } },
        },
      ];
    });
    const undoing =
      compensate === undefined
        ? []
        : unknownTask(compensate, { state: "", field: `${field}/compensate/src` }, machine);
    return [...slips, ...undoing, ...undoneByNobody(compensate, { state: "", field })];
  });
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
