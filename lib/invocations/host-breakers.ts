/**
 * A circuit breaker for each host that HTTP tasks call, in this process.
 *
 * Holds: it opens after 5 failures in a row, or when half of at least 10 calls in 10 s failed; after 5 s, doubling up to a
 *        minute, one call probes; what comes meanwhile is turned away at once, never left waiting.
 */
import {
  BrokenCircuitError,
  circuitBreaker,
  CircuitState,
  ConsecutiveBreaker,
  handleType,
  IterableBackoff,
  SamplingBreaker,
  type CircuitBreakerPolicy,
  type IBreaker,
} from "cockatiel";

import type { BreakerView } from "@/lib/runtime/tasks/invocation";

/** Thrown by a call whose failure is the host's: unreachable, too slow, broken. */
export class HostFailure<T> extends Error {
  override name = "HostFailure";
  constructor(readonly result: T) {
    super("the host failed");
  }
}

const cooldownsMs = [5_000, 10_000, 20_000, 40_000, 60_000] as const;
/** The hosts called least recently are forgotten first. */
const hostsMax = 1_000;

interface HostBreaker {
  policy: CircuitBreakerPolicy;
  opened: number;
  openUntil: number;
}

export class HostBreakers {
  private readonly hosts = new Map<string, HostBreaker>();

  /** The call's result, also the one that a HostFailure carries; `closedForMs` when it was turned away. */
  async through<T>(host: string, call: () => Promise<T>): Promise<{ result: T } | { closedForMs: number }> {
    const breaker = this.breakerOf(host);
    if (breaker.policy.state === CircuitState.HalfOpen) return { closedForMs: cooldownsMs[0] };
    try {
      return { result: await breaker.policy.execute(call) };
    } catch (error) {
      if (error instanceof BrokenCircuitError) {
        return { closedForMs: Math.max(100, breaker.openUntil - Date.now()) };
      }
      if (error instanceof HostFailure) return { result: error.result as T };
      throw error;
    }
  }

  /** Hosts that are not called now, or tried by one call. */
  list(): BreakerView[] {
    return [...this.hosts].flatMap(([name, { policy, openUntil }]) => {
      if (policy.state === CircuitState.Closed) return [];
      const isOpen = policy.state === CircuitState.Open;
      return [{ name, state: isOpen ? "open" : "half-open", until: isOpen ? openUntil : null }];
    });
  }

  /** As if it had never been called. */
  reset(host: string): void {
    this.hosts.delete(host);
  }

  private breakerOf(host: string): HostBreaker {
    const known = this.hosts.get(host) ?? newBreaker();
    this.hosts.delete(host);
    this.hosts.set(host, known);
    for (const oldest of this.hosts.keys()) {
      if (this.hosts.size <= hostsMax) break;
      this.hosts.delete(oldest);
    }
    return known;
  }
}

function newBreaker(): HostBreaker {
  const policy = circuitBreaker(handleType(HostFailure), {
    breaker: eitherOf(
      new ConsecutiveBreaker(5),
      new SamplingBreaker({ threshold: 0.5, duration: 10_000, minimumRps: 1 }),
    ),
    halfOpenAfter: new IterableBackoff(cooldownsMs),
  });
  const breaker: HostBreaker = { policy, opened: 0, openUntil: 0 };
  policy.onBreak(() => {
    const cooldownMs = cooldownsMs[Math.min(breaker.opened, cooldownsMs.length - 1)] ?? 0;
    breaker.opened += 1;
    breaker.openUntil = Date.now() + cooldownMs;
  });
  policy.onReset(() => (breaker.opened = 0));
  return breaker;
}

/** Opens as soon as one of them would. */
function eitherOf(...breakers: IBreaker[]): IBreaker {
  return {
    get state() {
      return breakers.map((breaker) => breaker.state);
    },
    set state(states: unknown) {
      for (const [index, breaker] of breakers.entries()) breaker.state = (states as unknown[])[index];
    },
    success: (state) => breakers.forEach((breaker) => breaker.success(state)),
    failure: (state) => breakers.map((breaker) => breaker.failure(state)).includes(true),
  };
}
