/**
 * `lockstep/client`: what a program outside this repository sees of the client, built into dist/client.js with its types
 * beside it (scripts/build-types.mjs). Inside, each part is imported where it is.
 */
export { LockstepError, type ErrorCode } from "@/lib/base/errors";
export type { Json } from "@/lib/base/json";
export type { EndpointName, ResponseOf } from "@/lib/contract/endpoints";
export type { ClaimedTask } from "@/lib/contract/tasks";
export { createClient, type ArgsOf, type CallOptions, type Client, type ClientOptions } from "./client";
export {
  LeaseLost,
  TaskCancelled,
  TaskFailure,
  WorkerEnding,
  type TaskContext,
  type TaskFunction,
} from "./task-function";
export { runTaskWorker, type TaskWorker, type TaskWorkerOptions, type WorkerEvent } from "./task-worker";
export { withLock, type LockWork, type WithLockOptions } from "./with-lock";
export { withSession, type SessionWork, type WithSessionOptions } from "./with-session";
