/**
 * A circuit breaker (base/breaker.ts) for each host that HTTP tasks call, in this process.
 */
import { Breaker, TurnedAway } from "@/lib/base/breaker";
import type { BreakerView } from "@/lib/runtime/tasks/invocation";

/** Thrown by a call whose failure is the host's: unreachable, too slow, broken. */
export class HostFailure<T> extends Error {
  override name = "HostFailure";
  constructor(readonly result: T) {
    super("the host failed");
  }
}

/** The hosts called least recently are forgotten first. */
const hostsMax = 1_000;

export class HostBreakers {
  private readonly hosts = new Map<string, Breaker>();

  /** The call's result, also the one that a HostFailure carries; `closedForMs` when it was turned away. */
  async through<T>(host: string, call: () => Promise<T>): Promise<{ result: T } | { closedForMs: number }> {
    try {
      return { result: await this.breakerOf(host).through(call) };
    } catch (error) {
      if (error instanceof TurnedAway) return { closedForMs: error.closedForMs };
      if (error instanceof HostFailure) return { result: error.result as T };
      throw error;
    }
  }

  /** Hosts that are not called now, or tried by one call. */
  list(): BreakerView[] {
    return [...this.hosts].flatMap(([name, breaker]) => {
      const { state, until } = breaker.state;
      return state === "closed" ? [] : [{ name, state, until }];
    });
  }

  /** As if it had never been called. */
  reset(host: string): void {
    this.hosts.delete(host);
  }

  private breakerOf(host: string): Breaker {
    const known = this.hosts.get(host) ?? new Breaker((error) => error instanceof HostFailure);
    this.hosts.delete(host);
    this.hosts.set(host, known);
    for (const oldest of this.hosts.keys()) {
      if (this.hosts.size <= hostsMax) break;
      this.hosts.delete(oldest);
    }
    return known;
  }
}
