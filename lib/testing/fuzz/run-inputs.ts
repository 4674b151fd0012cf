/**
 * Inputs one after the other: each tried, timed, and, when it found something, cut down to what still finds it.
 */
import { readFileSync } from "node:fs";
import { fuzzInput, type FuzzInput, type FuzzKind } from "./fuzz-input";
import { tryInput } from "./try-input";

export interface Finding {
  kind: FuzzKind;
  seed: number;
  problem: string;
  /** The least text that still does it. */
  text: string;
}

const slowMs = 1_000;

/** Tries the inputs `from` up to, not including, `to`; `onInput` is told before each. */
export function runInputs(
  from: number,
  to: number,
  report: { onInput?: (seed: number) => void; onFinding: (finding: Finding) => void },
): void {
  for (let seed = from; seed < to; seed++) {
    report.onInput?.(seed);
    const input = fuzzInput(seed);
    const problem = problemOf(input);
    if (problem !== null) report.onFinding({ ...input, problem, text: shrunk(input, problem) });
  }
}

/** What trying `input` shows to be wrong; null: nothing. */
export function problemOf(input: FuzzInput): string | null {
  const began = performance.now();
  const problem = errorOf(input);
  if (problem !== null || performance.now() - began < slowMs) return problem;
  // The machine may have been busy with others: processor time decides, of two more tries.
  const times = [0, 1].map(() => {
    const before = threadMs();
    errorOf(input);
    return threadMs() - before;
  });
  const ms = Math.min(...times);
  return ms < slowMs ? null : `took ${Math.round(ms)} ms`;
}

function errorOf(input: FuzzInput): string | null {
  try {
    tryInput(input);
    return null;
  } catch (error) {
    if (!(error instanceof Error)) return `threw ${String(error)}`;
    const [, place = ""] = /\n\s+at (?:new )?(.+?)(?: \(|\n|$)/.exec(error.stack ?? "") ?? [];
    return `${error.name}: ${error.message.slice(0, 300)} (${place})`;
  }
}

/** Processor time of this thread. Off Linux: the clock, which also counts what others took. */
function threadMs(): number {
  try {
    const fields = readFileSync("/proc/thread-self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
    // utime and stime, in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return performance.now();
  }
}

/** Removes ever smaller pieces as long as the same error remains. Slow inputs stay as they are. */
function shrunk(input: FuzzInput, problem: string): string {
  if (problem.startsWith("took")) return input.text;
  const sign = problem.slice(0, 40);
  let { text } = input;
  let triesLeft = 600;
  for (let size = text.length >> 1; size >= 1 && triesLeft > 0; size >>= 1) {
    for (let at = 0; at < text.length && triesLeft > 0;) {
      const less = text.slice(0, at) + text.slice(at + size);
      triesLeft--;
      if (errorOf({ ...input, text: less })?.startsWith(sign) === true) text = less;
      else at += size;
    }
  }
  return text;
}
