/**
 * What a chart's settings say of an instance beside its course: its concurrency key and business key, known before it
 * starts, and the fields of its context that lists are searched by.
 */
import { EvaluationFailure } from "./cel/evaluation-failure";
import type { Json, JsonObject } from "@/lib/base/json";
import { parseLocation, readAt } from "./location";
import type { Machine } from "./machine";
import { Run } from "./run";
import type { EngineError } from "./snapshot";
import { bindContext, unstarted, type NewSession } from "./start";

export interface InstanceKeys {
  concurrencyKey: string | null;
  businessKey: string | null;
}

/** Evaluated on the initial context and the input. `errors`: a key that cannot be evaluated, which is null then. */
export function instanceKeys(
  machine: Machine,
  session: NewSession,
  at: number,
): { keys: InstanceKeys; errors: EngineError[] } {
  const keys: InstanceKeys = { concurrencyKey: null, businessKey: null };
  const errors: EngineError[] = [];
  if (machine.keys.concurrencyKey === null && machine.keys.businessKey === null) return { keys, errors };
  const run = new Run(machine, unstarted(machine, session), { at, seq: 0 });
  bindContext(run, session.data ?? {});
  for (const key of ["concurrencyKey", "businessKey"] as const) {
    try {
      keys[key] = machine.keys[key]?.(run) ?? null;
    } catch (error) {
      if (!(error instanceof EvaluationFailure)) throw error;
      errors.push({ code: error.code, message: error.message, state: "", field: `settings/${key}` });
    }
  }
  return { keys, errors };
}

/** settings.index: location → the text, number or bool that the context has there; null for anything else. */
export function indexedValues(
  machine: Machine,
  context: JsonObject,
): Record<string, string | number | boolean | null> {
  return Object.fromEntries(
    (machine.chart.settings?.index ?? []).map((location) => {
      const path = parseLocation(location);
      const value: Json | undefined = path === null ? undefined : readAt(context, path);
      return [location, value === undefined || typeof value === "object" ? null : value];
    }),
  );
}
