/**
 * One line of a run's input: `{"type":"pay","data":…}` or `{"advance": Delay}`.
 */
import { isJsonObject, type Json } from "@/lib/base/json";
import { delayMs } from "./stubs";

export type InputLine = { type: string; data?: Json } | { advanceMs: number };

export function readInputLine(value: Json): InputLine | { problem: string } {
  if (!isJsonObject(value)) return { problem: 'it must be an object, {"type": …} or {"advance": …}' };
  const allowed = value.advance === undefined ? ["type", "data"] : ["advance"];
  const unknown = Object.keys(value).find((key) => !allowed.includes(key));
  if (unknown !== undefined) return { problem: `it has the unknown key "${unknown}"` };
  if (value.advance !== undefined) {
    const advanceMs = delayMs(value.advance);
    if (advanceMs === null)
      return {
        problem: `${JSON.stringify(value.advance)} is no duration: use ms or "10ms", "1h30m", "PT5M"`,
      };
    return { advanceMs };
  }
  if (typeof value.type !== "string" || value.type === "") return { problem: 'its "type" must be a text' };
  return value.data === undefined ? { type: value.type } : { type: value.type, data: value.data };
}
