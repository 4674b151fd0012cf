/** Resolves after `ms`, or at once when the runtime closes. */
export function pause(ms: number, closing: AbortSignal): Promise<void> {
  if (closing.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      closing.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    closing.addEventListener("abort", done);
  });
}
