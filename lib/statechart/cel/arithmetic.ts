/**
 * Arithmetic and comparison of ints (bigint, 64 bits) and doubles (number), also mixed. `/` on two ints is integer division.
 */
import { EvaluationFailure } from "./evaluation-failure";

type Numeric = number | bigint;

const int64Max = 9223372036854775807n;
const int64Min = -9223372036854775808n;

function int64(value: bigint): bigint {
  if (value <= int64Max && value >= int64Min) return value;
  throw new EvaluationFailure("numeric-overflow", `integer overflow: ${value}`);
}

const divisor = (value: bigint): bigint => {
  if (value === 0n) throw new EvaluationFailure("division-by-zero", "division by zero");
  return value;
};

export const operations: Record<string, (a: Numeric, b: Numeric) => Numeric> = {
  "+": (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? int64(a + b) : Number(a) + Number(b)),
  "-": (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? int64(a - b) : Number(a) - Number(b)),
  "*": (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? int64(a * b) : Number(a) * Number(b)),
  "/": (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? a / divisor(b) : Number(a) / Number(b)),
  "%": (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? a % divisor(b) : Number(a) % Number(b)),
};

export const comparisons: Record<string, (a: Numeric, b: Numeric) => boolean> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};
