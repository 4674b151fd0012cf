/**
 * The types of `lockstep/cel`, as the machines that Lockstep writes see them; implemented by cel-runtime.ts. Stands by
 * itself, for it is copied beside the bundle.
 */
/** What XState hands to guards and actions. */
export interface Args {
  context: Record<string, unknown>;
  event: { type: string };
}
/** A chart's value: a text is CEL, other JSON is itself. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

export interface CelOptions {
  /** Named guards that are CEL, to be used by name inside other CEL. */
  guards?: Record<string, string>;
  /** Parameters of a named guard or action, themselves values. */
  params?: Value;
}

export interface Cel {
  /** A guard. */
  test(text: string): (args: Args, params?: unknown) => boolean;
  /** A value. */
  value(value: Value): (args: Args, params?: unknown) => unknown;
  /** What `assign` sets: all values are computed before the first is written. */
  assign(record: Record<string, Value>): (args: Args, params?: unknown) => Record<string, unknown>;
  /** An event: fields of a map, or another value as `data`. */
  event(type: string | { cel: string }, data?: Value): (args: Args, params?: unknown) => { type: string };
  /** Milliseconds. */
  delay(text: string): (args: Args, params?: unknown) => number;
  /** The items of a list or map, each with its index or key. */
  items(value: Value): (args: Args, params?: unknown) => [item: unknown, index: unknown][];
  /** The context at the start; `{cel}` is computed then. */
  context(values: Record<string, Value>): (args: { input: unknown }) => Record<string, unknown>;
  /** The same with parameters, computed where they are used. */
  with(params: Value): Cel;
}
