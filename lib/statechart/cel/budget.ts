/**
 * What one evaluation may cost, and all of a macrostep together. CEL always ends, but comprehensions nest and lists double: the bound makes "ends" mean
 * "within milliseconds", the same number of steps in every browser and server.
 *
 * A step is one round of a comprehension, one item compared, copied or made, or 64 characters of text.
 */
import { EvaluationFailure } from "./evaluation-failure";

// 200,000 steps take 5–20 ms: more than any sane guard needs, less than a worker's turn.
export const stepsMax = 200_000;
// A text longer than this cannot be stored anyhow (events are bounded to 256 KiB); doubling stops here.
export const textMax = 1_000_000;

// Ten evaluations at their bound, a third of a second: a loop whose list grows round by round ends here, not at its
// thousandth microstep.
const macrostepMax = 10 * stepsMax;

let left = stepsMax;
/** By the evaluations of this macrostep before the one that runs. */
let spent = 0;

export function refill(): void {
  spent += stepsMax - left;
  left = stepsMax;
}

/** A macrostep begins. */
export function refillAll(): void {
  spent = 0;
  left = stepsMax;
}

export const isAllSpent = (): boolean => spent + stepsMax - left > macrostepMax;

export function charge(steps: number): void {
  left -= steps;
  if (left < 0) {
    throw new EvaluationFailure("cost-exceeded", `the expression costs more than ${stepsMax} steps`);
  }
}

/** Charges for a freshly made text or list. */
export function chargeSize(value: unknown): void {
  if (typeof value === "string") {
    if (value.length > textMax) {
      throw new EvaluationFailure("cost-exceeded", `a text grows beyond ${textMax} characters`);
    }
    charge(1 + (value.length >> 6));
  } else if (Array.isArray(value)) charge(1 + value.length);
}
