/** A module's functions as task workers in the process itself, so that one kill takes both. */
import { localActor } from "@/lib/access/actor";
import { errorOf, type TaskContext, type TaskFunction } from "@/lib/client/task-function";
import { LockstepError } from "@/lib/base/errors";
import type { Runtime } from "@/lib/runtime/runtime";

export type TaskModule = Record<string, TaskFunction>;

/** Until the runtime closes. */
export async function runTasks(runtime: Runtime, { ...functions }: TaskModule): Promise<void> {
  const types = Object.keys(functions);
  for (;;) {
    const claim = { types, workerId: `w-${process.pid}`, waitMs: 5_000 };
    const claimed = await runtime.claimTasks(localActor, claim).catch((error: unknown) => {
      if (error instanceof LockstepError && error.retry === "later") return { code: error.code, tasks: [] };
      throw error;
    });
    if ("code" in claimed && claimed.code === "shutting-down") return;
    const { tasks } = claimed;
    for (const { token, type, input, leaseMs: _, ...rest } of tasks) {
      try {
        const context: TaskContext = {
          ...rest,
          signal: new AbortController().signal,
          heartbeat: async () => void (await runtime.heartbeatTask(localActor, { token })),
        };
        const output = (await functions[type]?.(input, context)) ?? null;
        await runtime.completeTask(localActor, { token, output });
      } catch (thrown) {
        await runtime.failTask(localActor, { token, error: errorOf(thrown) }).catch(() => undefined);
      }
    }
  }
}
