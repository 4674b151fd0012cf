/**
 * Where the states of a JSON document stand in its text, by name (`id`, else the keys from the root).
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import { LineIndex, type TextPosition } from "./text-position";

export function statePositions(
  root: Json,
  offsets: ReadonlyMap<JsonObject, number>,
  text: string,
): Record<string, TextPosition> {
  const positions = new Map<string, TextPosition>();
  const lines = new LineIndex(text);
  const visit = (state: Json, keys: string[]): void => {
    if (!isJsonObject(state)) return;
    const offset = offsets.get(state);
    const name = typeof state.id === "string" ? state.id : keys.join(".");
    if (offset !== undefined) positions.set(name, lines.at(offset));
    if (!isJsonObject(state.states)) return;
    for (const [key, child] of Object.entries(state.states)) visit(child, [...keys, key]);
  };
  visit(root, []);
  return Object.fromEntries(positions);
}
