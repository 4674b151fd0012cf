/**
 * Finds the code that opens a transaction inside a transaction, which would wait for itself.
 *
 * Only tests watch (watchNesting): knowing the caller costs every promise of the process a tenth of its speed.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { assert } from "@/lib/base/assert";

let inside: AsyncLocalStorage<true> | null = null;

export function watchNesting(): void {
  inside ??= new AsyncLocalStorage();
}

/** Runs a transaction's function. */
export const markInside = <T>(work: () => T): T => (inside ? inside.run(true, work) : work());

/** To be called where the present transaction's end would be waited for; `what` says what to do instead. */
export function refuseInside(what: () => string): void {
  assert(inside?.getStore() !== true, `a transaction that waits for itself: ${what()}`);
}
