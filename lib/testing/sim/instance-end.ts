/**
 * An instance as a seed leaves it: its row, its whole log, its dead letters.
 */
import type { Json } from "@/lib/base/json";
import type { DeadLetterRow, InstanceRow, LogInput, LogLine } from "@/lib/store/instances";
import type { Store } from "@/lib/store/store";

export const all = 1_000_000;

export type Entry = LogInput & LogLine;
export interface InstanceEnd {
  row: InstanceRow;
  log: Entry[];
  dead: DeadLetterRow[];
  queued: number;
}
/** Those and their children, and theirs, as far as they live. */
export async function withDescendants(store: Store, ids: readonly string[]): Promise<Set<string>> {
  const found = new Set(ids);
  for (const parent of found) {
    for (const { id } of await store.listInstances({ parent }, null, all)) found.add(id);
  }
  return found;
}

export async function readEnd(store: Store, id: string): Promise<InstanceEnd | null> {
  const row = await store.findInstance(id);
  if (!row) return null;
  const lines = (await store.listLog(id, null, all)).reverse();
  const inputs = await store.logInputs(id, 0, row.seq, all);
  const log = inputs.map((input, index) => ({ ...lines[index], ...input }) as Entry);
  return { row, log, dead: await store.listDeadLetters(id, null, all), queued: await store.countMailbox(id) };
}

export const markOf = (input: string): string | null => markIn((JSON.parse(input) as { data?: Json }).data);
export function markIn(data: Json | undefined): string | null {
  const mark = typeof data === "object" && data !== null && !Array.isArray(data) ? data["mark"] : null;
  return typeof mark === "string" ? mark : null;
}
