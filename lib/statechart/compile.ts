/**
 * A chart made ready to run, once per version.
 */
import { LockstepError } from "@/lib/base/errors";
import type { JsonObject } from "@/lib/base/json";
import { hasErrors } from "./diagnostic";
import type { Chart } from "./document";
import type { Machine } from "./machine";
import { readMachine } from "./read-machine";

/** Throws LockstepError "chart-invalid" for what cannot run at all: bad targets, a missing initial, duplicate names. */
export function compile(chart: Chart): Machine {
  const machine = readMachine(chart);
  const { problems } = machine;
  if (hasErrors(problems)) {
    const [first] = problems;
    throw new LockstepError(
      "chart-invalid",
      `the chart cannot run: ${first?.message ?? ""}${problems.length > 1 ? ` (and ${problems.length - 1} more)` : ""}`,
      { details: { diagnostics: problems as unknown as JsonObject[] } },
    );
  }
  return machine;
}
