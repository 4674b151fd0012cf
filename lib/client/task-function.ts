/**
 * What a task's function is given, and how it says that things went wrong.
 */
import type { Json } from "@/lib/base/json";
import { toldCode, toldMessage } from "@/lib/base/told-error";

export interface TaskContext {
  /** Aborts when the lease is lost (LeaseLost), the instance waits no more (TaskCancelled) or the worker ends (WorkerEnding). */
  signal: AbortSignal;
  /** Renews the lease now, and keeps `progress` (at most 64 KiB) for the next attempt. Throws LeaseLost. */
  heartbeat: (this: void, progress?: Json) => Promise<void>;
  /** What an earlier attempt kept last; null when none did. */
  progress: Json;
  /** The same in every attempt of this task. */
  idempotencyKey: string;
  /** Rises with every attempt: who guards a resource refuses a lower one than it has seen. */
  fence: number;
  /** From 1. */
  attempt: number;
  attemptsMax: number;
  instanceId: string;
  invokeId: string;
}

/** What it returns is the task's output; what it throws fails the attempt. */
export type TaskFunction = (input: Json, context: TaskContext) => Json | void | Promise<Json | void>;

/** To be thrown by a task's function: with a code that the chart can tell apart. */
export class TaskFailure extends Error {
  override name = "TaskFailure";
  /** `retry: false`: another attempt is no use. */
  constructor(
    readonly code: string,
    message: string,
    readonly options: { retry?: boolean; data?: Json } = {},
  ) {
    super(message);
  }
}

/** Another attempt may be running by now: stop, and write nothing more under the old fence. */
export class LeaseLost extends Error {
  override name = "LeaseLost";
}
/** The instance has left the state that asked for this. */
export class TaskCancelled extends Error {
  override name = "TaskCancelled";
}
/** The worker's grace time is over: the task is given back. */
export class WorkerEnding extends Error {
  override name = "WorkerEnding";
}

export function errorOf(thrown: unknown): { code: string; message: string; data?: Json; retry?: boolean } {
  if (!(thrown instanceof Error)) return { code: "error", message: toldMessage(String(thrown)) };
  const message = toldMessage(thrown.message);
  if (thrown instanceof TaskFailure) {
    const { retry, data } = thrown.options;
    return {
      code: toldCode(thrown.code),
      message,
      ...(data === undefined ? {} : { data }),
      ...(retry === undefined ? {} : { retry }),
    };
  }
  return { code: toldCode("code" in thrown ? thrown.code : undefined), message };
}
