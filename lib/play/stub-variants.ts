/**
 * How outside work may turn out while paths are looked for: all of it succeeds, all of it fails, one kind of it fails.
 */
import { isJsonObject, type JsonObject } from "@/lib/base/json";
import { listOf, type Machine } from "@/lib/statechart/machine";

// Which of two works fails matters; which two of five do, seldom.
const singleFailuresMax = 4;

/** Stubs as a test writes them, the likeliest first. */
export function stubVariants(machine: Machine): JsonObject[] {
  const sources = [...new Set(machine.ordered.flatMap((state) => sourcesOf(machine, state.name)))];
  if (sources.length === 0) return [{}];
  const turnsOut = (fails: (source: string) => boolean): JsonObject =>
    Object.fromEntries(sources.map((source) => [source, [fails(source) ? failed : done]]));
  const single = sources.length === 1 ? [] : sources.slice(0, singleFailuresMax);
  return [
    turnsOut(() => false),
    turnsOut(() => true),
    ...single.map((one) => turnsOut((source) => source === one)),
  ];
}

// After a while, so that events can come before the answer.
const done: JsonObject = { after: "1s", output: {} };
const failed: JsonObject = { after: "1s", error: { code: "stub", message: "the work failed" } };

/** A child chart given as text or file runs for real. */
function sourcesOf(machine: Machine, name: string): string[] {
  return listOf(machine.states.get(name)?.node.invoke).flatMap(({ src, input }) => {
    const source = typeof src === "string" ? src : src.placeholder;
    const isGiven = isJsonObject(input) && (input.source !== undefined || input.url !== undefined);
    return source === "chart" && isGiven ? [] : [source];
  });
}
