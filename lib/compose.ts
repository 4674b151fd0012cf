/**
 * Plugs the real parts together, once per process: store, runtime, seeds, workers.
 *
 * Holds: instrumentation and route handlers are separate module instances, so the one runtime lives on globalThis.
 */
import type { Runtime } from "./runtime/runtime";

const slot = globalThis as typeof globalThis & { __lockstepRuntime?: Promise<Runtime> };

/** The process's runtime: opened, migrated, seeded on first start, workers running. A failed start is tried anew. */
export function getRuntime(): Promise<Runtime> {
  slot.__lockstepRuntime ??= openRuntime().catch((error: unknown) => {
    delete slot.__lockstepRuntime;
    throw error;
  });
  return slot.__lockstepRuntime;
}

/** Ends the process's runtime if one was opened: streams and waiting calls end first, then workers, then the store. */
export async function closeRuntime(): Promise<void> {
  const open = slot.__lockstepRuntime;
  if (!open) return;
  delete slot.__lockstepRuntime;
  await (await open).close();
}

function openRuntime(): Promise<Runtime> {
  return Promise.reject(new Error("the store is not plugged in yet"));
}
