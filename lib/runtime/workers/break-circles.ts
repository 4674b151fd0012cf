/**
 * Ends the waits of states that would never end: each hears `lock-deadlock`. Callers that wait end their own (lock-waits.ts).
 */
import type { Store } from "@/lib/store/store";
import type { Machines } from "../charts/machines";
import { taskOfSession } from "../locks/state-session";
import { circlesMs, findDeadlocked } from "../locks/wait-circles";
import { settleLockTask } from "./settle-state-locks";

export class CircleBreaker {
  private nextAt = 0;

  constructor(
    private readonly store: Store,
    private readonly machines: Machines,
    private readonly answered: () => void,
  ) {}

  async round(): Promise<boolean> {
    if (performance.now() < this.nextAt) return false;
    this.nextAt = performance.now() + circlesMs;
    for (const endless of await findDeadlocked(this.store, this.machines)) {
      const task = taskOfSession(endless.session, endless.holder);
      if (task && (await settleLockTask(this.store, task, endless))) this.answered();
    }
    return false;
  }
}
