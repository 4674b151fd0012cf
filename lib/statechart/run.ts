/**
 * A macrostep while it runs: the only mutable state in the engine. Made from a snapshot, thrown away at a failure, frozen
 * into the next snapshot at the end; so a step is atomic.
 *
 * Holds: records of the snapshot are copied before their first write, never written in place.
 */
import { LockstepError } from "@/lib/base/errors";
import type { Json, JsonObject } from "@/lib/base/json";
import { isAllSpent, refillAll } from "./cel/budget";
import { EvaluationFailure } from "./cel/evaluation-failure";
import type { Effect, InvokeOptions } from "./effect";
import type { ActionBlock, Execution, ExecutionScope, MachineEvent, SendRequest } from "./execution";
import { parseLocation, readAt, writeAt } from "./location";
import type { CompiledInvoke, CompiledState, CompiledTransition, Machine } from "./machine";
import type { ArmedTimer, EngineError, Snapshot } from "./snapshot";
import type { QueuedError, StepOptions } from "./step";
import type { Microstep } from "./trace";

// A hundred thousand actions are tens of milliseconds: nested foreach over large lists ends here, deterministically.
const actionsMax = 100_000;

// The log keeps them with the step: enough to see what is wrong, never a thousand rounds of one loop.
const failuresMax = 20;

/** The step fails as a whole; thrown through the engine, caught by macrostep and start. */
export class StepFailure extends Error {
  constructor(
    readonly engineError: EngineError,
    /** The instance itself is failed, not only this step. */
    readonly fatal: boolean,
  ) {
    super(engineError.message);
  }
}

export class Run implements Execution {
  context: JsonObject;
  event: MachineEvent | null = null;
  reads: [string, Json][] | null = null;
  readonly session: Snapshot["session"];
  readonly at: number;

  /** Active states, document order. */
  config: CompiledState[];
  private readonly stamps: Uint32Array;
  private readonly stamp: number;
  readonly queue: MachineEvent[] = [];
  readonly effects: Effect[] = [];
  private ownHistory: Snapshot["history"];
  private ownGenerations: Snapshot["generations"];
  private ownInvocations: Snapshot["invocations"];
  private ownTimers: Snapshot["timers"];
  unbound: readonly string[];
  output: Json | undefined = undefined;
  completed = false;
  /** The timer that this step fires: it is gone, not cancelled. */
  firedTimer: string | null = null;
  /** Entered and not exited in this macrostep: their invocations start at its end. */
  toInvoke: readonly CompiledState[] = none;
  exited: readonly string[] = none;
  entered: readonly string[] = none;
  /** Eventless transitions whose guard has failed in this macrostep: one error each. */
  failedGuards: readonly CompiledTransition[] = none;
  moved = false;
  failures: readonly QueuedError[] = none;

  readonly trace: Microstep[] | null;
  current: Microstep | null = null;
  private microsteps = 0;
  private actions = 0;
  private ids = 0;
  private block: ActionBlock | null = null;
  private ownScope: ExecutionScope | null = null;
  private readonly seq: number;
  private readonly canReach: StepOptions["canReach"];

  constructor(
    readonly machine: Machine,
    readonly before: Snapshot,
    options: StepOptions,
  ) {
    this.context = before.context;
    this.session = before.session;
    this.at = options.at;
    this.seq = options.seq;
    this.canReach = options.canReach;
    this.ownHistory = before.history;
    this.ownGenerations = before.generations;
    this.ownInvocations = before.invocations;
    this.ownTimers = before.timers;
    this.unbound = before.unbound ?? none;
    this.trace = options.trace === true ? [] : null;
    const { marks } = machine;
    // A fresh stamp forgets the last step's marks without clearing them.
    if (marks.last === 0xffffffff) {
      marks.stamps.fill(0);
      marks.last = 0;
    }
    this.stamps = marks.stamps;
    this.stamp = ++marks.last;
    refillAll();
    this.config = [];
    const [first, second] = before.configuration;
    if (first !== undefined) this.activate(first, second === undefined);
    for (let index = 1; index < before.configuration.length; index++)
      this.activate(before.configuration[index] as string, false);
  }

  private activate(name: string, isOnly: boolean): void {
    const leaf = this.machine.states.get(name);
    if (leaf === undefined) {
      throw new LockstepError(
        "chart-invalid",
        `the snapshot is in a state "${name}" that this chart does not have: it belongs to another version`,
        { details: { state: name } },
      );
    }
    if (isOnly) {
      // The usual case: the leaf and its ancestors are all there is, in order.
      this.config = leaf.lineage.slice();
      for (const state of leaf.lineage) this.stamps[state.order] = this.stamp;
      return;
    }
    for (const state of leaf.lineage) if (!this.isActive(state)) this.insert(state);
  }

  /** Keeps `config` in document order; nearly always the new state is the last. */
  private insert(state: CompiledState): void {
    this.stamps[state.order] = this.stamp;
    const { config } = this;
    let index = config.length;
    config.push(state);
    for (; index > 0; index--) {
      const previous = config[index - 1] as CompiledState;
      if (previous.order < state.order) break;
      config[index] = previous;
    }
    config[index] = state;
  }

  get scope(): ExecutionScope {
    return (this.ownScope ??= this.machine.scopeFor(this));
  }

  isActive(state: CompiledState): boolean {
    return this.stamps[state.order] === this.stamp;
  }

  isIn(name: string): boolean {
    const state = this.machine.states.get(name);
    return state !== undefined && this.isActive(state);
  }

  add(state: CompiledState): void {
    this.insert(state);
    this.moved = true;
    this.entered = withName(this.entered, state.name);
    this.current?.entered.push(state.name);
  }

  remove(state: CompiledState): void {
    this.stamps[state.order] = 0;
    const { config } = this;
    // States are left innermost first, so it is at or near the end.
    if (config.at(-1) === state) config.pop();
    else config.splice(config.lastIndexOf(state), 1);
    this.moved = true;
    this.exited = withName(this.exited, state.name);
    this.current?.exited.push(state.name);
  }

  /** Names of the active leaves. */
  configuration(): string[] {
    const names = new Array<string>(this.countLeaves());
    let index = 0;
    for (const state of this.config) if (isLeaf(state)) names[index++] = state.name;
    return names;
  }

  countLeaves(): number {
    let count = 0;
    for (const state of this.config) if (isLeaf(state)) count++;
    return count;
  }

  /** States exited when everything below `domain` is left (null: the root too), in document order. */
  activeBelow(domain: CompiledState | null): CompiledState[] {
    const { config } = this;
    if (domain === null) return config.slice();
    // Document order is pre-order: a state's descendants lie next to each other.
    const begin = firstAfter(config, domain.order);
    return config.slice(begin, firstAfter(config, domain.last));
  }

  // ---- records of the snapshot

  get history(): Readonly<Snapshot["history"]> {
    return this.ownHistory;
  }
  get generations(): Readonly<Snapshot["generations"]> {
    return this.ownGenerations;
  }
  get invocations(): Readonly<Snapshot["invocations"]> {
    return this.ownInvocations;
  }
  get timers(): Readonly<Snapshot["timers"]> {
    return this.ownTimers;
  }

  recordHistory(name: string, states: string[]): void {
    if (this.ownHistory === this.before.history) this.ownHistory = { ...this.ownHistory };
    this.ownHistory[name] = states;
  }

  countEntry(name: string): void {
    if (this.ownGenerations === this.before.generations) this.ownGenerations = { ...this.ownGenerations };
    this.ownGenerations[name] = (this.ownGenerations[name] ?? 0) + 1;
  }

  private writableTimers(): Snapshot["timers"] {
    if (this.ownTimers === this.before.timers) this.ownTimers = { ...this.ownTimers };
    return this.ownTimers;
  }

  private writableInvocations(): Snapshot["invocations"] {
    if (this.ownInvocations === this.before.invocations) this.ownInvocations = { ...this.ownInvocations };
    return this.ownInvocations;
  }

  // ---- bounds and ids

  countMicrostep(): void {
    const { microstepsMax, errors } = this.machine.settings;
    if (++this.microsteps > microstepsMax) {
      throw new StepFailure(
        {
          code: "microsteps-exceeded",
          message: `the step did not come to rest within ${microstepsMax} microsteps: an eventless or raised loop never ends (settings.microstepsMax)`,
        },
        errors === "stop",
      );
    }
    this.ids = 0;
    this.mustAfford();
  }

  private mustAfford(): void {
    if (!isAllSpent()) return;
    throw new StepFailure(
      {
        code: "cost-exceeded",
        message: "the step's expressions cost more than a step may: what do they repeat?",
      },
      this.machine.settings.errors === "stop",
    );
  }

  spend(): void {
    if (++this.actions > actionsMax) {
      throw new StepFailure(
        { code: "actions-exceeded", message: `the step ran more than ${actionsMax} actions` },
        this.machine.settings.errors === "stop",
      );
    }
    this.mustAfford();
  }

  /** Of the input event itself. */
  get stepId(): string {
    return String(this.seq);
  }

  nextId(): string {
    return `${this.seq}.${this.microsteps}.${++this.ids}`;
  }

  // ---- what actions do

  runBlock(block: ActionBlock): void {
    if (block.actions.length === 0) return;
    const outer = this.block;
    this.block = block;
    let index = 0;
    try {
      for (const action of block.actions) {
        action(this);
        index++;
      }
    } catch (error) {
      if (!(error instanceof EvaluationFailure)) throw error;
      this.fail(error, block.state, `${block.field}/${index}`);
    } finally {
      this.block = outer;
    }
  }

  /** Queues error.execution for an expression that failed. */
  fail(failure: EvaluationFailure, state: string, field: string): void {
    this.queueError(
      "error.execution",
      { code: failure.code, message: failure.message, state, field },
      failure.sendid,
    );
  }

  /** `more`: of what went wrong, for whoever handles it. */
  queueError(type: QueuedError["event"], error: EngineError, sendid?: string, more?: JsonObject): void {
    if (this.failures.length < failuresMax) this.failures = [...this.failures, { event: type, ...error }];
    this.queue.push({
      type,
      data: { ...error, ...more },
      from: "platform",
      id: this.nextId(),
      ...(sendid === undefined ? {} : { sendid }),
    });
  }

  assign(location: string, value: Json, declares = false): void {
    const path = parseLocation(location);
    if (path === null)
      throw new EvaluationFailure("bad-location", `"${location}" is not a location that can be written`);
    const [root] = path;
    if (this.machine.settings.scxmlDomain && !declares && !Object.hasOwn(this.context, root)) {
      throw new EvaluationFailure("undeclared", `"${root}" is not declared`);
    }
    const before = readAt(this.context, path);
    // An equal primitive changes nothing: an eventless loop that only repeats itself comes to rest.
    if (before === value && before !== undefined) return;
    this.context = writeAt(this.context, path, value);
    this.current?.changes.push({ path: location, ...(before === undefined ? {} : { before }), after: value });
  }

  raise(event: { type: string; data?: Json; sendid?: string }): void {
    this.queue.push({ ...event, from: "internal", id: this.nextId() });
  }

  send(request: SendRequest): void {
    const { type, data, id, delayMs } = request;
    const to = this.checkedTarget(request.to);
    if (delayMs === null) return;
    const event = { type, ...(data === undefined ? {} : { data }), ...(id === null ? {} : { sendid: id }) };
    if (to === "#_internal" && delayMs === 0) return this.raise(event);
    // A delayed one is addressed when it fires: until then its invocation may start, or end.
    if (to !== null && delayMs === 0 && this.isUnreachable(to)) {
      return this.queueError(
        "error.communication",
        { code: "unreachable", message: `there is nobody at "${to}" to send "${type}" to` },
        id ?? undefined,
        { to, type },
      );
    }
    if (delayMs === 0) {
      this.effects.push({ type: "send", to, event });
      return;
    }
    this.arm(this.nextId(), {
      dueAt: this.at + delayMs,
      kind: "send",
      event,
      ...(to === null ? {} : { to }),
    });
  }

  /** SCXML C.1: own session's address is no address at all; an unknown form is an error. */
  private checkedTarget(to: string | null): string | null {
    if (to === null || to === `#_scxml_${this.session.id}`) return null;
    if (/^#_.+/.test(to) || /^instance:.+/.test(to)) return to;
    throw new EvaluationFailure(
      "bad-target",
      `"${to}" is not a target: use #_internal, #_parent, #_INVOKEID or instance:ID`,
    );
  }

  private isUnreachable(to: string): boolean {
    if (to === "#_internal") return false;
    if (to === "#_parent" || to.startsWith("#_scxml_") || !to.startsWith("#_"))
      return this.canReach?.(to) === false;
    return !Object.hasOwn(this.invocations, to.slice(2));
  }

  cancel(id: string): void {
    for (const [timerId, timer] of Object.entries(this.timers)) {
      if (timer.kind === "send" && timer.event?.sendid === id) this.disarm(timerId);
    }
  }

  arm(id: string, timer: ArmedTimer): void {
    this.writableTimers()[id] = timer;
  }

  disarm(id: string): void {
    if (!Object.hasOwn(this.timers, id)) return;
    delete this.writableTimers()[id];
  }

  startInvocation(invoke: CompiledInvoke, generation: number, input: Json, options?: InvokeOptions): void {
    const { id, src, state, index } = invoke;
    this.writableInvocations()[id] = { state: state.name, index, generation, src };
    this.effects.push({
      type: "invoke.start",
      id,
      src,
      state: state.name,
      index,
      generation,
      input,
      ...(invoke.placeholder ? { placeholder: true } : {}),
      ...options,
    });
  }

  /** Forgets a running invocation; `cancel` also tells the world to stop it. */
  endInvocation(id: string, cancel: boolean): void {
    const running = Object.hasOwn(this.invocations, id) ? this.invocations[id] : undefined;
    if (running === undefined) return;
    delete this.writableInvocations()[id];
    if (cancel) this.effects.push({ type: "invoke.cancel", id, generation: running.generation });
  }

  emit(event: { type: string; data?: Json }): void {
    this.effects.push({ type: "emit", event });
  }

  log(value: Json, label?: string): void {
    this.effects.push({ type: "log", ...(label === undefined ? {} : { label }), value });
  }

  compensate(): void {
    this.effects.push({ type: "compensate" });
  }

  // ---- traces

  note(text: () => string, error?: string): void {
    if (this.current === null) return;
    this.current.actions.push({
      state: this.block?.state ?? "",
      block: this.block?.kind ?? "transition",
      text: text(),
      ...(error === undefined ? {} : { error }),
    });
  }

  beginTrace(event: MachineEvent | null): void {
    if (this.trace === null) return;
    this.current = {
      index: this.trace.length + 1,
      event:
        event === null
          ? null
          : { type: event.type, ...(event.data === undefined ? {} : { data: event.data }) },
      candidates: [],
      taken: [],
      exited: [],
      entered: [],
      actions: [],
      changes: [],
    };
    this.trace.push(this.current);
  }

  /** Takes back a microstep in which nothing was even considered. */
  dropEmptyTrace(): void {
    if (this.trace !== null && this.current?.candidates.length === 0) this.trace.pop();
    this.current = null;
  }
}

const none: readonly never[] = [];
export const byOrder = (a: CompiledState, b: CompiledState): number => a.order - b.order;

/** Pushing makes room for sixteen more; most steps enter and leave one state or two. */
function withName(names: readonly string[], name: string): readonly string[] {
  const [first, second] = names;
  if (first === undefined) return [name];
  if (second === undefined) return [first, name];
  if (names.length === 2) return [first, second, name];
  (names as string[]).push(name);
  return names;
}

/** In place. Lists of states are short and nearly in order: insertion allocates nothing. */
export function sortInOrder<T>(list: T[], orderOf: (item: T) => number): T[] {
  if (list.length > 64) return list.sort((a, b) => orderOf(a) - orderOf(b));
  for (let end = 1; end < list.length; end++) {
    const item = list[end] as T;
    let index = end;
    for (; index > 0; index--) {
      const previous = list[index - 1] as T;
      if (orderOf(previous) <= orderOf(item)) break;
      list[index] = previous;
    }
    list[index] = item;
  }
  return list;
}
export const orderOf = (state: CompiledState): number => state.order;
export const isLeaf = (state: CompiledState): boolean => state.type === "atomic" || state.type === "final";

/** Index of the first state numbered after `order`. */
function firstAfter(config: readonly CompiledState[], order: number): number {
  let low = 0;
  let high = config.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((config[middle] as CompiledState).order > order) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** All regions below a parallel, or a compound's child, have reached a final state. SCXML: isInFinalState */
export function isInFinalState(run: Run, state: CompiledState): boolean {
  switch (state.type) {
    case "compound":
      return state.children.some((child) => child.type === "final" && run.isActive(child));
    case "parallel":
      return state.children.every((child) => child.type === "history" || isInFinalState(run, child));
    case "final":
      return run.isActive(state);
    default:
      return false;
  }
}
