/** A module's functions as task workers in the process itself, so that one kill takes both. */
import { localActor } from "@/lib/access/actor";
import type { Json } from "@/lib/base/json";
import { isPassing } from "@/lib/base/errors";
import type { Runtime } from "@/lib/runtime/runtime";

/** As the task-worker SDK takes them, with the input alone. */
export type TaskModule = Record<string, (input: Json) => Json | void>;

/** Until the runtime closes. */
export async function runTasks(runtime: Runtime, { ...functions }: TaskModule): Promise<void> {
  const types = Object.keys(functions);
  for (;;) {
    const claim = { types, workerId: `w-${process.pid}`, waitMs: 5_000 };
    const claimed = await runtime.claimTasks(localActor, claim).catch((error: unknown) => {
      if (isPassing(error)) return { code: error.code, tasks: [] };
      throw error;
    });
    if ("code" in claimed && claimed.code === "shutting-down") return;
    const { tasks } = claimed;
    for (const { token, type, input } of tasks) {
      try {
        const output = functions[type]?.(input) ?? null;
        await runtime.completeTask(localActor, { token, output });
      } catch (thrown) {
        await runtime.failTask(localActor, { token, error: errorOf(thrown) }).catch(() => undefined);
      }
    }
  }
}

const errorOf = (thrown: unknown): { code: string; message: string } => {
  const { code, message } = thrown as { code?: string; message?: string };
  return { code: code ?? "error", message: message ?? String(thrown) };
};
