/**
 * A circuit breaker: calls to something that fails again and again are turned away at once, for a while.
 *
 * Holds: it opens after 5 failures in a row, or when at least half of at least 10 calls of the last 10 s failed; after 5 s,
 *        doubling up to a minute, one call probes; what comes meanwhile is turned away, never left waiting.
 */
import {
  BrokenCircuitError,
  circuitBreaker,
  CircuitState,
  ConsecutiveBreaker,
  handleAll,
  IterableBackoff,
  type CircuitBreakerPolicy,
  type IBreaker,
} from "cockatiel";

const cooldownsMs = [5_000, 10_000, 20_000, 40_000, 60_000] as const;
const inARowMax = 5;
const windowS = 10;
const callsMin = 10;
const failedShare = 0.5;

/** Thrown in the place of a call that is not made. */
export class TurnedAway extends Error {
  override name = "TurnedAway";
  constructor(readonly closedForMs: number) {
    super("the breaker is open");
  }
}

export class Breaker {
  private now = newCircuit();

  /** `isFailure`: of an error that a call throws: what is called has failed, not the call. */
  constructor(private readonly isFailure: (error: unknown) => boolean) {}

  /** Throws TurnedAway, or what the call throws. */
  async through<T>(call: () => Promise<T>): Promise<T> {
    const circuit = this.now;
    if (circuit.policy.state === CircuitState.HalfOpen) throw new TurnedAway(cooldownsMs[0]);
    let done: { value: T } | { refused: unknown };
    try {
      done = await circuit.policy.execute(async () => {
        try {
          return { value: await call() };
        } catch (error) {
          if (this.isFailure(error)) throw error;
          // An answer like any other: the library would not count it at all.
          return { refused: error };
        }
      });
    } catch (error) {
      if (error instanceof BrokenCircuitError)
        throw new TurnedAway(Math.max(100, circuit.openUntil - Date.now()));
      throw error;
    }
    if ("refused" in done) throw done.refused;
    return done.value;
  }

  /** `until`: when the next call may try, ms, by this process's clock. */
  get state(): { state: "closed" | "open" | "half-open"; until: number | null } {
    const { policy, openUntil } = this.now;
    if (policy.state === CircuitState.Closed) return { state: "closed", until: null };
    if (policy.state === CircuitState.Open) return { state: "open", until: openUntil };
    return { state: "half-open", until: null };
  }

  /** As if nothing had ever been called. */
  reset(): void {
    this.now = newCircuit();
  }
}

interface Circuit {
  policy: CircuitBreakerPolicy;
  /** Times in a row. */
  opened: number;
  openUntil: number;
}

function newCircuit(): Circuit {
  const policy = circuitBreaker(handleAll, {
    breaker: eitherOf(new ConsecutiveBreaker(inARowMax), new ShareBreaker()),
    halfOpenAfter: new IterableBackoff(cooldownsMs),
  });
  const circuit: Circuit = { policy, opened: 0, openUntil: 0 };
  policy.onBreak(() => {
    const cooldownMs = cooldownsMs[Math.min(circuit.opened, cooldownsMs.length - 1)] ?? 0;
    circuit.opened += 1;
    circuit.openUntil = Date.now() + cooldownMs;
  });
  policy.onReset(() => (circuit.opened = 0));
  return circuit;
}

interface Second {
  at: number;
  calls: number;
  failed: number;
}

/** The library's own opens above its share, not at it, and forgets what is old only as new calls come. */
class ShareBreaker implements IBreaker {
  state: Second[] = [];

  success(state: CircuitState): void {
    if (state === CircuitState.HalfOpen) this.state = [];
    this.count(0);
  }

  failure(): boolean {
    this.count(1);
    const calls = this.state.reduce((sum, second) => sum + second.calls, 0);
    const failed = this.state.reduce((sum, second) => sum + second.failed, 0);
    return calls >= callsMin && failed >= calls * failedShare;
  }

  private count(failed: 0 | 1): void {
    const at = Math.floor(Date.now() / 1_000);
    // A clock that was set back knows nothing of what is to come.
    this.state = this.state.filter((second) => second.at > at - windowS && second.at <= at);
    let last = this.state.at(-1);
    if (last?.at !== at) this.state.push((last = { at, calls: 0, failed: 0 }));
    last.calls += 1;
    last.failed += failed;
  }
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
