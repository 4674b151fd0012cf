/**
 * Runs once when the server starts: opens the store, seeds a first start, starts the in-process workers.
 *
 * Holds: a server without its database does not stay up half alive; it says what is wrong and ends.
 */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { getRuntime } = await import("@/lib/compose");
  await getRuntime().catch((error: unknown) => {
    process.stderr.write(
      `Lockstep did not start. ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  });
}
