/**
 * The chart's guards, values, delays and actions as functions, made once per chart. Expressions are parsed when they are
 * first reached: illegal ones are run-time errors, never a refusal to load.
 */
import type { Environment } from "@marcbachmann/cel-js";
import { isJsonObject, type Json } from "@/lib/base/json";
import { environmentWith } from "./cel/environment";
import { EvaluationFailure } from "./cel/evaluation-failure";
import { Expression } from "./cel/expression";
import { isDuration } from "./cel/library-types";
import { celTypeName, toCel } from "./cel/view";
import { contextReferences } from "./cel/references";
import { delayMaxMs, parseDelay } from "./delay";
import type { Action, Actions, Chart, Delay, Guard, TaskDefaults, Text, Value } from "./document";
import type {
  ActionBlock,
  ActionProgram,
  DelayProgram,
  Execution,
  ExecutionScope,
  GuardProgram,
  ValueProgram,
} from "./execution";
import { actionText } from "./guard-text";
import { listOf } from "./machine";
import { MachineScope } from "./machine-scope";

// Named guards and actions may use each other; a chain longer than this is a circle.
const nestingMax = 50;

export class Programs {
  readonly environment: Environment;
  private readonly guards = new Map<string, GuardProgram>();
  private readonly named = new Map<string, readonly ActionProgram[]>();
  private nesting = 0;

  constructor(private readonly chart: Chart) {
    this.environment = environmentWith(Object.keys(chart.guards ?? {}));
  }

  get guardNames(): ReadonlySet<string> {
    return new Set(Object.keys(this.chart.guards ?? {}));
  }

  taskDefaults(src: string): TaskDefaults | undefined {
    return own(this.chart.tasks, src);
  }

  expression(text: string): Expression {
    return new Expression(text, this.environment);
  }

  // ---- values

  value(value: Value): ValueProgram {
    if (typeof value === "string") {
      const expression = this.expression(value);
      return ({ scope }) => expression.evaluateJson(scope);
    }
    if (typeof value !== "object" || value === null) return () => value;
    // A placeholder has no value yet.
    if (isPlaceholder(value)) return () => null;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.value(item));
      return (execution) => items.map((item) => item(execution));
    }
    const entries = Object.entries(value).map(([key, item]) => [key, this.value(item)] as const);
    return (execution) => Object.fromEntries(entries.map(([key, item]) => [key, item(execution)]));
  }

  /** A literal text or `{cel}`. */
  text(text: Text, what: string): (execution: Execution) => string {
    if (typeof text === "string") return () => text;
    const expression = this.expression(text.cel);
    return ({ scope }) => {
      const value = expression.evaluate(scope);
      if (typeof value === "string") return value;
      throw new EvaluationFailure(
        "not-a-text",
        `${what} must be a text, found ${celTypeName(value)} in \`${text.cel}\``,
      );
    };
  }

  delay(delay: Delay, depth = 0): DelayProgram {
    if (typeof delay === "number") return () => checkedDelay(delay, String(delay));
    if (typeof delay === "object") return () => null;
    const named = own(this.chart.delays, delay);
    if (named !== undefined && depth < nestingMax) return this.delay(named, depth + 1);
    const fixed = parseDelay(delay);
    if (fixed !== null) return () => fixed;
    const expression = this.expression(delay);
    return ({ scope }) => {
      const value = expression.evaluate(scope);
      if (isDuration(value)) return checkedDelay(Number(value.getMilliseconds()), delay);
      if (typeof value === "bigint" || typeof value === "number") return checkedDelay(Number(value), delay);
      const text = typeof value === "string" ? parseDelay(value) : null;
      if (text !== null) return text;
      const found = typeof value === "string" ? `"${value}"` : celTypeName(value);
      throw new EvaluationFailure("bad-delay", `the delay \`${delay}\` gives ${found}, not a duration`);
    };
  }

  /** Roots in the order their first values need each other; ties and circles in key order sorted by code units. */
  initialContext(): readonly (readonly [string, ValueProgram])[] {
    const context = this.chart.context ?? {};
    const literals: (readonly [string, ValueProgram])[] = [];
    const computed = new Map<string, string>();
    for (const [root, value] of Object.entries(context)) {
      if (isJsonObject(value) && typeof value.cel === "string" && Object.keys(value).length === 1) {
        computed.set(root, value.cel);
      } else literals.push([root, () => value]);
    }
    const ordered: string[] = [];
    const visiting = new Set<string>();
    const visit = (root: string): void => {
      const text = computed.get(root);
      if (text === undefined || visiting.has(root) || ordered.includes(root)) return;
      visiting.add(root);
      for (const needed of [...contextReferences(text, this.environment)].sort()) visit(needed);
      visiting.delete(root);
      ordered.push(root);
    };
    for (const root of [...computed.keys()].sort()) visit(root);
    return [...literals, ...ordered.map((root) => [root, this.value(computed.get(root) ?? "")] as const)];
  }

  // ---- guards

  guard(guard: Guard): GuardProgram {
    if (typeof guard === "string") {
      return own(this.chart.guards, guard) === undefined
        ? this.celGuard(guard)
        : this.namedGuard(guard, undefined);
    }
    if ("placeholder" in guard) return { placeholder: true, test: () => false };
    if ("type" in guard) return this.namedGuard(guard.type, guard.params);
    if ("in" in guard) return { placeholder: false, test: (execution) => execution.isIn(guard.in) };
    if ("not" in guard) {
      const inner = this.guard(guard.not);
      return {
        placeholder: inner.placeholder,
        test: (execution) => !inner.placeholder && !inner.test(execution),
      };
    }
    const parts = ("and" in guard ? guard.and : guard.or).map((part) => this.guard(part));
    return "and" in guard
      ? { placeholder: false, test: (execution) => parts.every((part) => part.test(execution)) }
      : { placeholder: false, test: (execution) => parts.some((part) => part.test(execution)) };
  }

  private celGuard(text: string): GuardProgram {
    const expression = this.expression(text);
    return {
      placeholder: false,
      test: ({ scope, reads }) => {
        const value =
          reads === null ? expression.evaluate(scope) : expression.evaluateRecording(scope, reads);
        if (typeof value === "boolean") return value;
        throw new EvaluationFailure(
          "not-a-bool",
          `the guard \`${text}\` gives ${celTypeName(value)}, not a bool`,
        );
      },
    };
  }

  private namedGuard(name: string, params: Value | undefined): GuardProgram {
    const definition = own(this.chart.guards, name);
    if (definition === undefined) {
      const fail = (): never => {
        throw new EvaluationFailure("unknown-guard", `there is no guard named "${name}"`);
      };
      return { placeholder: false, test: fail };
    }
    const paramsValue = params === undefined ? null : this.value(params);
    const inner = (): GuardProgram => {
      let program = this.guards.get(name);
      if (program === undefined) {
        // Registered before it is made, so that guards that name each other end.
        let made: GuardProgram | null = null;
        program = {
          placeholder: typeof definition === "object" && "placeholder" in definition,
          test: (execution) => (made ??= this.guard(definition)).test(execution),
        };
        this.guards.set(name, program);
      }
      return program;
    };
    return {
      get placeholder() {
        return inner().placeholder;
      },
      test: (execution) =>
        this.inside(execution.scope, name, paramsValue?.(execution), () => inner().test(execution)),
    };
  }

  /** Evaluates a named guard or action: `params` are its own, circles end. */
  private inside<T>(scope: ExecutionScope, name: string, params: Json | undefined, evaluate: () => T): T {
    if (this.nesting >= nestingMax) {
      throw new EvaluationFailure("circular-name", `"${name}" uses itself, directly or through others`);
    }
    const outer = scope.params;
    scope.params = params === undefined ? undefined : toCel(params);
    this.nesting++;
    try {
      return evaluate();
    } finally {
      this.nesting--;
      scope.params = outer;
    }
  }

  scopeFactory(): (execution: Execution) => ExecutionScope {
    const names = Object.keys(this.chart.guards ?? {}).filter((name) => this.environment.hasVariable(name));
    if (names.length === 0) return (execution) => new MachineScope(execution);
    class OwnScope extends MachineScope {}
    for (const name of names) {
      const program = this.namedGuard(name, undefined);
      Object.defineProperty(OwnScope.prototype, name, {
        get(this: MachineScope) {
          return program.test(this.execution);
        },
      });
    }
    return (execution) => new OwnScope(execution);
  }

  // ---- actions

  block(actions: Actions | undefined, state: string, kind: ActionBlock["kind"], field: string): ActionBlock {
    return actions === undefined || (Array.isArray(actions) && actions.length === 0)
      ? emptyBlock
      : new Block(this, actions, state, kind, field);
  }

  list(
    actions: Actions | undefined,
    state: string,
    kind: ActionBlock["kind"],
    field: string,
  ): ActionProgram[] {
    return listOf(actions).map((action, index) => this.action(action, state, kind, `${field}/${index}`));
  }

  private action(action: Action, state: string, kind: ActionBlock["kind"], field: string): ActionProgram {
    const list = (actions: Actions | undefined, inner: string): ActionProgram => {
      const programs = this.list(actions, state, kind, `${field}/${inner}`);
      return (execution) => programs.forEach((program) => program(execution));
    };
    const text = (): string => actionText(action);
    const noted =
      (run: ActionProgram): ActionProgram =>
      (execution) => {
        execution.spend();
        noting(execution, text, run);
      };
    if (typeof action === "string") return this.namedAction(action, undefined);
    if ("placeholder" in action) {
      return noted((execution) => execution.log(action.text ?? action.placeholder, "placeholder"));
    }
    if ("type" in action) return this.namedAction(action.type, action.params);
    if ("assign" in action) return noted(this.assign(action.assign));
    if ("raise" in action || "send" in action) return noted(this.send(action));
    if ("cancel" in action) {
      const id = this.text(action.cancel, "the id to cancel");
      return noted((execution) => execution.cancel(id(execution)));
    }
    if ("emit" in action) {
      const type = this.text(action.emit.type, "the emitted type");
      const data = action.emit.data === undefined ? null : this.value(action.emit.data);
      return noted((execution) =>
        execution.emit({ type: type(execution), ...(data === null ? {} : { data: data(execution) }) }),
      );
    }
    if ("log" in action) {
      const value = this.value(action.log);
      return noted((execution) => execution.log(value(execution), action.label));
    }
    if ("if" in action) {
      const guard = this.guard(action.if);
      const [yes, no] = [list(action.then, "then"), list(action.else, "else")];
      return (execution) => {
        execution.spend();
        let holds = false;
        const text = (): string => `${actionText(action)}: ${holds}`;
        try {
          noting(execution, text, () => (holds = guard.test(execution)));
        } catch (error) {
          // SCXML 5.9.1: a condition that fails is false, here as on a transition.
          if (!(error instanceof EvaluationFailure)) throw error;
          execution.fail(error, state, `${field}/if`);
        }
        (holds ? yes : no)(execution);
      };
    }
    if ("foreach" in action) return this.foreach(action, list(action.foreach.do, "foreach/do"));
    if ("block" in action) {
      const block = this.block(action.block, state, kind, `${field}/block`);
      return (execution) => execution.runBlock(block);
    }
    return noted((execution) => execution.compensate());
  }

  private namedAction(name: string, params: Value | undefined): ActionProgram {
    const paramsValue = params === undefined ? null : this.value(params);
    return (execution) => {
      execution.spend();
      let programs = this.named.get(name);
      if (programs === undefined) {
        const definition = own(this.chart.actions, name);
        if (definition === undefined) {
          throw new EvaluationFailure("unknown-action", `there is no action named "${name}"`);
        }
        programs = this.list(definition, "", "transition", `actions/${name}`);
        this.named.set(name, programs);
      }
      const list = programs;
      execution.note(() => actionText(params === undefined ? name : { type: name, params }));
      this.inside(execution.scope, name, paramsValue?.(execution), () =>
        list.forEach((program) => program(execution)),
      );
    };
  }

  /** All values are computed before any is written; writes go in the order of their locations, so parents come first. */
  private assign(assignments: Record<string, Value>): ActionProgram {
    const writes = Object.entries(assignments)
      .filter(([, value]) => !isPlaceholder(value))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([location, value]) => ({ location, value: this.value(value) }));
    const waiting = Object.values(assignments).filter(isPlaceholder);
    const [only] = writes;
    if (only !== undefined && writes.length === 1 && waiting.length === 0) {
      return (execution) => execution.assign(only.location, only.value(execution));
    }
    return (execution) => {
      const values = new Array<Json>(writes.length);
      let index = 0;
      for (const { value } of writes) values[index++] = value(execution);
      index = 0;
      for (const { location } of writes) execution.assign(location, values[index++] as Json);
      for (const { placeholder, text } of waiting) execution.log(text ?? placeholder, "placeholder");
    };
  }

  private send(action: Extract<Action, { raise: unknown } | { send: unknown }>): ActionProgram {
    const spec: { to?: Text; idLocation?: string } & Extract<Action, { raise: unknown }>["raise"] =
      "raise" in action ? action.raise : action.send;
    const internal = "raise" in action;
    const type = this.text(spec.type, "the event's type");
    const to = spec.to === undefined ? null : this.text(spec.to, "the target");
    const data = spec.data === undefined ? null : this.value(spec.data);
    const delay = spec.delay === undefined ? null : this.delay(spec.delay);
    const id = spec.id === undefined ? null : this.text(spec.id, "the id");
    return (execution) => {
      const sendid = id?.(execution) ?? (spec.idLocation === undefined ? null : execution.nextId());
      try {
        if (spec.idLocation !== undefined) execution.assign(spec.idLocation, sendid);
        const event = {
          type: type(execution),
          ...(data === null ? {} : { data: data(execution) }),
        };
        if (event.type === "") throw new EvaluationFailure("bad-event", "the event's type is empty");
        if (internal && delay === null) {
          execution.raise({ ...event, ...(sendid === null ? {} : { sendid }) });
        } else {
          const delayMs = delay === null ? 0 : delay(execution);
          execution.send({ ...event, to: to?.(execution) ?? null, delayMs, id: sendid });
        }
      } catch (error) {
        if (error instanceof EvaluationFailure && sendid !== null) error.sendid = sendid;
        throw error;
      }
    };
  }

  private foreach(action: Extract<Action, { foreach: unknown }>, body: ActionProgram): ActionProgram {
    const { item, index } = action.foreach;
    const list = this.value(action.foreach.in);
    return (execution) => {
      execution.spend();
      const items = list(execution);
      if (!Array.isArray(items)) {
        throw new EvaluationFailure("not-a-list", `foreach needs a list, found ${celTypeName(toCel(items))}`);
      }
      execution.note(() => actionText(action));
      items.forEach((value, position) => {
        execution.assign(item, value, true);
        if (index !== undefined) execution.assign(index, position, true);
        body(execution);
      });
    };
  }
}

const emptyBlock: ActionBlock = { actions: [], state: "", kind: "transition", field: "" };

/** Its actions become functions when it first runs: of a large chart's blocks, few ever do. */
class Block implements ActionBlock {
  private made: readonly ActionProgram[] | null = null;

  constructor(
    private readonly programs: Programs,
    private readonly written: Actions,
    readonly state: string,
    readonly kind: ActionBlock["kind"],
    readonly field: string,
  ) {}

  get actions(): readonly ActionProgram[] {
    return (this.made ??= this.programs.list(this.written, this.state, this.kind, this.field));
  }
}

/** Runs one action and notes it, also when it fails. */
function noting(execution: Execution, text: () => string, run: (execution: Execution) => void): void {
  try {
    run(execution);
  } catch (error) {
    if (error instanceof EvaluationFailure) execution.note(text, error.message);
    throw error;
  }
  execution.note(text);
}

const own = <T>(record: Record<string, T> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;

const isPlaceholder = (value: unknown): value is { placeholder: string; text?: string } =>
  isJsonObject(value) && typeof value.placeholder === "string";

function checkedDelay(ms: number, text: string): number {
  if (ms >= 0 && ms <= delayMaxMs) return Math.round(ms);
  throw new EvaluationFailure(
    "bad-delay",
    `the delay \`${text}\` gives ${ms} ms: it must be from 0 to ${delayMaxMs}`,
  );
}
