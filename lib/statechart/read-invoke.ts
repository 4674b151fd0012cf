/**
 * Invocations: what a state asks of the world, its own words merged over its task's, and what undoes it.
 *
 * Holds: everything is evaluated when the invocation starts, but a compensation's input: that needs the answer. The
 *        context it reads is kept from the start, so that undoing one of several deeds undoes that one.
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import { keyCharsMax } from "@/lib/base/limits";
import { EvaluationFailure } from "./cel/evaluation-failure";
import { celTypeName, toCel } from "./cel/view";
import { contextRead } from "./cel/references";
import type { Delay, Invoke, Retry, TaskDefaults, Value } from "./document";
import type { Compensation, InvokeOptions, RetryPolicy } from "./effect";
import type { Execution, ValueProgram } from "./execution";
import type { CompiledInvoke, CompiledState, KeyProgram } from "./machine";
import type { Programs } from "./programs";

type Program<T> = (execution: Execution) => T;

export function readInvoke(
  invoke: Invoke,
  index: number,
  state: CompiledState,
  programs: Programs,
): CompiledInvoke {
  const placeholder = typeof invoke.src !== "string";
  const src = srcOf(invoke);
  const merged = withDefaults(invoke, programs.taskDefaults(src));
  const { compensate } = merged;
  const compensationInput = compensate?.input === undefined ? null : programs.value(compensate.input);
  return {
    id: invoke.id ?? `${state.name}:${index}`,
    index,
    src,
    state,
    input: invoke.input === undefined ? null : programs.value(invoke.input),
    finalize: programs.block(invoke.finalize, state.name, "finalize", `invoke/${index}/finalize`),
    autoforward: invoke.autoforward ?? false,
    idLocation: invoke.idLocation ?? null,
    placeholder,
    options: optionsOf(merged, state, index, programs),
    compensationInput,
  };
}

const srcOf = ({ src }: Invoke): string => (typeof src === "string" ? src : src.placeholder);

type Options = Pick<Invoke, "retry" | "timeout" | "concurrencyKey" | "compensate">;

function withDefaults(invoke: Invoke, defaults: TaskDefaults | undefined): Options {
  if (defaults === undefined) return invoke;
  const { retry, ...rest } = invoke;
  const merged: Options = { ...defaults, ...rest };
  if (isJsonObject(defaults.retry) && isJsonObject(retry)) merged.retry = { ...defaults.retry, ...retry };
  else if (retry !== undefined) merged.retry = retry;
  return merged;
}

function optionsOf(
  written: Options,
  state: CompiledState,
  index: number,
  programs: Programs,
): Program<InvokeOptions> | null {
  const plain = plainOptions(written, programs);
  const { compensate } = written;
  if (compensate === undefined) return plain;
  const undo = compensation(compensate, state, index, programs);
  return (execution) => ({ ...plain?.(execution), compensate: undo(execution) });
}

/** `retry`, `timeout`, `concurrencyKey`. */
function plainOptions(written: Options, programs: Programs): Program<InvokeOptions> | null {
  const { retry, timeout, concurrencyKey } = written;
  if (retry === undefined && timeout === undefined && concurrencyKey === undefined) return null;
  const policy = retry === undefined ? null : retryOf(retry, programs);
  const limit = timeout === undefined ? null : programs.delay(timeout);
  const key = concurrencyKey === undefined ? null : keyProgram(concurrencyKey, programs);
  return (execution) => {
    const made: InvokeOptions = {};
    if (policy !== null) made.retry = policy(execution);
    const timeoutMs = limit?.(execution) ?? null;
    if (timeoutMs !== null) made.timeoutMs = timeoutMs;
    const text = key?.(execution) ?? null;
    if (text !== null) made.concurrencyKey = text;
    return made;
  };
}

function compensation(
  invoke: Invoke,
  state: CompiledState,
  index: number,
  programs: Programs,
): Program<Compensation> {
  const src = srcOf(invoke);
  const plain = plainOptions(withDefaults(invoke, programs.taskDefaults(src)), programs);
  let roots: ReadonlySet<string> | "all" | null = null;
  return (execution) => {
    roots ??= contextReadBy(invoke.input ?? null, programs);
    return {
      src,
      state: state.name,
      index,
      context: partOf(execution.context, roots),
      ...plain?.(execution),
    };
  };
}

function partOf(context: JsonObject, roots: ReadonlySet<string> | "all"): JsonObject {
  return roots === "all"
    ? context
    : Object.fromEntries(Object.entries(context).filter(([root]) => roots.has(root)));
}

/** What the texts of a value read of the context. */
function contextReadBy(value: Value, programs: Programs): ReadonlySet<string> | "all" {
  const roots = new Set<string>();
  for (const text of textsOf(value)) {
    const read = contextRead(text, programs.environment, programs.guardNames);
    if (read === "all") return read;
    for (const root of read) roots.add(root);
  }
  return roots;
}

function* textsOf(value: Json): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null)
    for (const item of Object.values(value)) yield* textsOf(item);
}

export const retryFields: ReadonlySet<string> = new Set([
  "attempts",
  "delay",
  "delayMax",
  "factor",
  "within",
  "noRetry",
]);

/** What is wrong with a `retry` as it is written, or null. `field` is the key it is about. */
export function retryProblem(retry: unknown): { field: string | null; message: string } | null {
  if (!isJsonObject(retry)) {
    return {
      field: null,
      message: "`retry` must be an object such as {attempts: 3, delay: '1s', noRetry: ['declined']}",
    };
  }
  const wrong = (field: string, what: string): { field: string; message: string } => ({
    field,
    message: `\`retry.${field}\` must be ${what}`,
  });
  const unknown = Object.keys(retry).find((key) => !retryFields.has(key));
  if (unknown !== undefined) {
    return {
      field: unknown,
      message: `\`retry\` has an unknown key \`${unknown}\`: allowed are ${[...retryFields].join(", ")}`,
    };
  }
  const { attempts, factor, noRetry } = retry;
  if (attempts !== undefined && !isWithin(attempts, 1, 1_000, true))
    return wrong("attempts", "a whole number from 1 to 1000");
  if (factor !== undefined && !isWithin(factor, 1, 100, false))
    return wrong("factor", "a number from 1 to 100");
  if (noRetry !== undefined && !(Array.isArray(noRetry) && noRetry.every((code) => typeof code === "string")))
    return wrong("noRetry", "a list of error codes");
  for (const field of ["delay", "delayMax", "within"]) {
    const value = retry[field];
    const isPlaceholder = isJsonObject(value) && typeof value.placeholder === "string";
    if (value !== undefined && typeof value !== "string" && typeof value !== "number" && !isPlaceholder)
      return wrong(field, "a duration such as 500, '30s' or PT1M");
  }
  return null;
}

const isWithin = (value: Json, min: number, max: number, whole: boolean): boolean =>
  typeof value === "number" && value >= min && value <= max && (!whole || Number.isInteger(value));

function retryOf(retry: Json, programs: Programs): Program<RetryPolicy> {
  const problem = retryProblem(retry);
  if (problem !== null) {
    return () => {
      throw new EvaluationFailure("bad-retry", problem.message);
    };
  }
  const { attempts, factor, noRetry, delay, delayMax, within } = retry as Retry;
  const fixed: RetryPolicy = {
    ...(attempts === undefined ? {} : { attemptsMax: attempts }),
    ...(factor === undefined ? {} : { factor }),
    ...(noRetry === undefined ? {} : { noRetry }),
  };
  const delays: [key: "delayMs" | "delayMaxMs" | "withinMs", delay: Delay | undefined][] = [
    ["delayMs", delay],
    ["delayMaxMs", delayMax],
    ["withinMs", within],
  ];
  const computed = delays.flatMap(([key, delay]) =>
    delay === undefined ? [] : [[key, programs.delay(delay)] as const],
  );
  return (execution) => {
    const policy = { ...fixed };
    for (const [key, delay] of computed) {
      const ms = delay(execution);
      if (ms !== null) policy[key] = ms;
    }
    return policy;
  };
}

/** A key as text: a text, a whole number, or null for none. */
export function keyProgram(text: string, programs: Programs): KeyProgram {
  const value: ValueProgram = programs.value(text);
  return (execution) => {
    const key = value(execution);
    if (key === null) return null;
    if (typeof key === "number" && Number.isInteger(key)) return String(key);
    if (typeof key === "string" && key.length > 0 && key.length <= keyCharsMax) return key;
    const found = typeof key === "string" ? `one of ${key.length} characters` : celTypeName(toCel(key));
    throw new EvaluationFailure(
      "bad-key",
      `the key \`${text}\` must be a text of 1 to ${keyCharsMax} characters, a whole number or null, found ${found}`,
    );
  };
}
