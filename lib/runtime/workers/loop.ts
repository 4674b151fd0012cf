/**
 * A loop that does work: at once after a hint, and every so often where nobody hints.
 *
 * Holds: one round at a time; a round that fails is tried again later and never ends the loop; stop() waits for the round
 *        under way.
 */
export interface Loop {
  hint(): void;
  stop(): Promise<void>;
}

/** `round` says whether there is more to do at once. `everyMs`: null waits for hints alone. */
export function startLoop(
  round: () => Promise<boolean>,
  report: (error: unknown) => void,
  everyMs: number | null,
): Loop {
  let stopped = false;
  let hinted = false;
  let wake: () => void = () => undefined;
  const hint = () => {
    hinted = true;
    wake();
  };
  const ended = (async () => {
    while (!stopped) {
      hinted = false;
      let more = false;
      try {
        more = await round();
      } catch (error) {
        report(error);
      }
      if (stopped || more || hinted) continue;
      await new Promise<void>((resolve) => {
        const timer = everyMs === null ? undefined : setTimeout(resolve, everyMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  })();
  return {
    hint,
    async stop() {
      stopped = true;
      wake();
      await ended;
    },
  };
}
