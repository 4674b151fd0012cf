/**
 * The circuit breaker (base/breaker.ts) of this process around the commands on locks: while the database fails again and again
 * they are refused at once, and say when to try again, over waiting for it each in turn.
 *
 * Holds: only the database's failures count: a lock that is busy or lost, or a row that another transaction holds, is none. A
 *        renewal is made all the same: a lease that could have been kept must not end for a guess.
 */
import { Breaker, TurnedAway } from "@/lib/base/breaker";
import { LockstepError, type ErrorCode } from "@/lib/base/errors";
import type { BreakerView } from "../tasks/invocation";

/** No host is called so. */
export const lockBreakerName = "database:locks";

const failures: ReadonlySet<ErrorCode> = new Set([
  "database-unavailable",
  "database-full",
  "outcome-unknown",
]);

export class LockBreaker {
  private readonly breaker = new Breaker(
    (error) => error instanceof LockstepError && failures.has(error.code),
  );

  /** Throws `database-unavailable` with {breaker, retryAfterMs} for a command that is not made. */
  async through<T>(command: () => Promise<T>): Promise<T> {
    try {
      return await this.breaker.through(command);
    } catch (error) {
      if (!(error instanceof TurnedAway)) throw error;
      const retryAfterMs = error.closedForMs;
      throw new LockstepError(
        "database-unavailable",
        `The database failed again and again: for a while this server asks it for no lock. Nothing was done; try again in ${Math.ceil(retryAfterMs / 1_000)} s, or at once on another server.`,
        { retry: "later", details: { breaker: lockBreakerName, retryAfterMs } },
      );
    }
  }

  /** As through, and made also when others are not. */
  async throughAnyway<T>(command: () => Promise<T>): Promise<T> {
    return this.breaker.state.state === "closed" ? this.through(command) : command();
  }

  list(): BreakerView[] {
    const { state, until } = this.breaker.state;
    return state === "closed" ? [] : [{ name: lockBreakerName, state, until }];
  }

  reset(): void {
    this.breaker.reset();
  }
}
