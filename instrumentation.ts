/**
 * Runs once when the server starts: opens the store, seeds a first start, starts the in-process workers.
 */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === "nodejs") {
    const { getRuntime } = await import("@/lib/compose");
    await getRuntime();
  }
}
