/**
 * Stubs: what a run in memory answers in place of outside work. `{[src or invoke id]: [{after?, output? | error?}]}`,
 * used in turn, the last repeats.
 */
import { isJsonObject, type Json } from "@/lib/base/json";
import { parseDelay } from "@/lib/statechart/delay";

export interface Stub {
  afterMs: number;
  answer: { output: Json } | { error: { code: string; message: string; data?: Json } };
}
export type Stubs = ReadonlyMap<string, readonly Stub[]>;

/** The stubs in `json`, or what is wrong with it. */
export function parseStubs(json: Json): Stubs | { problem: string } {
  if (!isJsonObject(json))
    return { problem: "stubs are an object: {src or invoke id: [{after?, output? | error?}]}" };
  const stubs = new Map<string, Stub[]>();
  for (const [name, list] of Object.entries(json)) {
    if (!Array.isArray(list) || list.length === 0)
      return { problem: `the stubs of "${name}" must be a list with at least one entry` };
    const parsed: Stub[] = [];
    for (const [index, item] of list.entries()) {
      const stub = parseStub(item);
      if (typeof stub === "string") return { problem: `stub ${index} of "${name}" ${stub}` };
      parsed.push(stub);
    }
    stubs.set(name, parsed);
  }
  return stubs;
}

function parseStub(item: Json): Stub | string {
  if (!isJsonObject(item)) return "must be an object {after?, output? | error?}";
  const unknown = Object.keys(item).find((key) => !["after", "output", "error"].includes(key));
  if (unknown !== undefined) return `has the unknown key "${unknown}"`;
  const { after = 0, output, error } = item;
  const afterMs = delayMs(after);
  if (afterMs === null) return `has an \`after\` that is no duration: ${JSON.stringify(after)}`;
  if (output !== undefined && error !== undefined) return "has both output and error";
  if (error === undefined) return { afterMs, answer: { output: output ?? null } };
  if (!isJsonObject(error)) {
    const message = typeof error === "string" ? error : JSON.stringify(error);
    return { afterMs, answer: { error: { code: "stub", message, data: error } } };
  }
  const { code, message, data } = error;
  return {
    afterMs,
    answer: {
      error: {
        code: typeof code === "string" ? code : "stub",
        message: typeof message === "string" ? message : "the stub's error",
        data: data ?? error,
      },
    },
  };
}

/** A Delay of the command line: ms number or duration text; null when it is neither. */
export function delayMs(value: Json): number | null {
  if (typeof value === "number") return Number.isFinite(value) && value >= 0 ? Math.round(value) : null;
  return typeof value === "string" ? parseDelay(value) : null;
}
