/**
 * A loop for each kind of work, and the lookout that asks every 250 ms, in one statement, which of them have any.
 *
 * Holds: I8 whoever leaves work in this process hints; a hint that was lost is made good by the lookout.
 */
import type { Store } from "@/lib/store/store";
import type { Work } from "@/lib/store/work";
import { pollMs } from "../limits";
import { startLoop } from "./loop";

/** True when there is more to do at once. */
type Round = () => Promise<boolean>;
export type Rounds = Record<keyof Work, Round>;

export interface WorkLoops {
  hint(...kinds: (keyof Work)[]): void;
  /** Resolves when no round is under way. */
  stop(): Promise<void>;
}

/** `others` know by themselves when they are due. */
export function startWorkLoops(
  store: Store,
  rounds: Rounds,
  others: readonly Round[],
  report: (error: unknown) => void,
): WorkLoops {
  const kinds = Object.keys(rounds) as (keyof Work)[];
  const loops = new Map(kinds.map((kind) => [kind, startLoop(rounds[kind], report, null)] as const));
  const hint = (...wanted: (keyof Work)[]) => {
    for (const kind of wanted) loops.get(kind)?.hint();
  };
  const lookOut = async () => {
    const work = await store.findWork();
    hint(...kinds.filter((kind) => work[kind]));
    return false;
  };
  const polling = [lookOut, ...others].map((round) => startLoop(round, report, pollMs));
  return {
    hint,
    async stop() {
      await Promise.all([...polling, ...loops.values()].map((loop) => loop.stop()));
    },
  };
}
