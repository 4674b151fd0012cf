/**
 * The library's own value classes, which its entry point does not export: taken from values it makes.
 */
import { evaluate } from "@marcbachmann/cel-js";

interface CelDuration {
  readonly seconds: bigint;
  readonly nanos: number;
  getMilliseconds(): bigint;
}
interface CelUint {
  valueOf(): bigint;
}

const classOf = (expression: string): abstract new () => unknown =>
  (evaluate(expression) as { constructor: abstract new () => unknown }).constructor;

const durationClass = classOf("duration('1s')");
const uintClass = classOf("uint(1)");

export const isDuration = (value: unknown): value is CelDuration => value instanceof durationClass;
export const isUint = (value: unknown): value is CelUint => value instanceof uintClass;
