/**
 * What a writer cannot say in its format, collected before the text is handed out.
 *
 * Holds: equal losses of a state are named once; the list is bounded and says when more was left out.
 */
import { importBounds, type Loss } from "./import-result";

export class Losses {
  readonly list: Loss[] = [];
  private readonly seen = new Set<string>();

  add(message: string, state?: string): void {
    const key = JSON.stringify([message, state ?? null]);
    if (this.seen.has(key) || this.list.length > importBounds.reportsMax) return;
    this.seen.add(key);
    const full = this.list.length === importBounds.reportsMax;
    if (full) this.list.push({ message: "More was lost than is listed here." });
    else this.list.push(state === undefined ? { message } : { message, state });
  }
}
