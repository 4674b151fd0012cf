/**
 * What must close, in order, when the process is told to stop. Kept on globalThis because the server's entry, Next's
 * instrumentation and its route handlers each get module instances of their own.
 *
 * Holds: every hook runs once, newest first, also when an earlier one throws; a second call awaits the first.
 */
type Hook = () => void | Promise<void>;
interface Registry {
  hooks: Set<Hook>;
  running: Promise<void> | null;
}

const key = Symbol.for("lockstep.shutdown");
const registry = (): Registry => {
  const holder = globalThis as { [key]?: Registry };
  return (holder[key] ??= { hooks: new Set(), running: null });
};

/** Registers `hook`; returns its removal. */
export function onShutdown(hook: Hook): () => void {
  registry().hooks.add(hook);
  return () => registry().hooks.delete(hook);
}

/** Runs all hooks. Errors are handed to `report`, never thrown. */
export function runShutdown(report: (error: unknown) => void): Promise<void> {
  const state = registry();
  return (state.running ??= (async () => {
    for (const hook of [...state.hooks].reverse()) {
      try {
        await hook();
      } catch (error) {
        report(error);
      }
    }
  })());
}
