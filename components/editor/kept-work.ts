/**
 * Unsaved work of this browser, by chart: survives a reload, a crash and offline time.
 *
 * Local storage, because it is written at once: a page that closes in the next millisecond has kept its work. A chart too
 * large for it (about 5 million characters for all charts together) is not kept; the save chip then doesn't claim it.
 */
import { isJsonObject } from "@/lib/base/json";
import type { DraftText } from "./draft-saver";

export interface KeptWork {
  baseRevision: number;
  draft: DraftText;
}

const keyOf = (chartId: string): string => `lockstep.draft.${chartId}`;

/** False when the browser has no room. */
export function keepWork(chartId: string, kept: KeptWork | null): boolean {
  try {
    if (kept === null) localStorage.removeItem(keyOf(chartId));
    else localStorage.setItem(keyOf(chartId), JSON.stringify(kept));
    return true;
  } catch {
    return false;
  }
}

export function keptWork(chartId: string): KeptWork | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(keyOf(chartId)) ?? "null");
    if (!isJsonObject(value) || typeof value["baseRevision"] !== "number") return null;
    const draft = value["draft"];
    if (!isJsonObject(draft) || typeof draft["text"] !== "string" || !isJsonObject(draft["layout"]))
      return null;
    return value as unknown as KeptWork;
  } catch {
    return null;
  }
}
