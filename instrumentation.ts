/**
 * Runs once when the server starts: opens the store, seeds a first start, starts the in-process workers.
 */
export async function register(): Promise<void> {
  // Inside the condition, so that the build for the edge leaves it out.
  if (process.env.NEXT_RUNTIME === "nodejs") {
    const { getRuntimeOrExit } = await import("@/lib/compose");
    await getRuntimeOrExit();
  }
}
