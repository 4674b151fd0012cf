/**
 * Every call of /api/v1 in one table: method, path, the permission it needs, what goes in and what comes out.
 * The server builds its handlers and the client its calls from it; a path that is not here does not exist.
 */
import { z } from "zod";
import { payloadBytesMax } from "@/lib/base/limits";
import * as batches from "./batches";
import * as charts from "./charts";
import { chartBytesMax, id, idempotencyKey, textInt, timestamp, versionMax } from "./common";
import * as instances from "./instances";
import * as locks from "./locks";
import * as operations from "./operations";
import * as schedules from "./schedules";
import * as tasks from "./tasks";

export interface Endpoint {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** `:name` marks a path parameter. */
  path: string;
  permission: string;
  params: z.ZodType;
  query: z.ZodType;
  body: z.ZodType | null;
  response: z.ZodType;
  bodyBytesMax: number;
  /** The status of success. */
  status: number;
  /** Takes an `Idempotency-Key` header. */
  idempotent: boolean;
}

/** Parameters of a query that may be given several times: they are lists, also when given once. */
export const listParams = ({ query }: Pick<Endpoint, "query">): ReadonlySet<string> =>
  new Set(
    Object.entries(query instanceof z.ZodObject ? query.shape : {})
      .filter(([, schema]) => schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodArray)
      .map(([name]) => name),
  );

const none = z.strictObject({});
const chartParams = z.object({ chartId: id });
const instanceParams = z.object({ instanceId: id });
const batchParams = z.object({ batchId: id });
const scheduleParams = z.object({ scheduleId: id });
const defaults = {
  params: none,
  query: none,
  body: null,
  bodyBytesMax: payloadBytesMax,
  status: 200,
  idempotent: false,
};
const define = <
  const E extends Partial<Endpoint> & Pick<Endpoint, "method" | "path" | "permission" | "response">,
>(
  endpoint: E,
): Omit<typeof defaults, keyof E> & E => ({ ...defaults, ...endpoint });

/** What the control verbs share. */
const control = {
  permission: "instances:control",
  params: instanceParams,
  body: instances.controlBody,
  idempotent: true,
  response: instances.controlResult,
};

export const endpoints = {
  listCharts: define({
    method: "GET",
    path: "/charts",
    permission: "charts:read",
    response: charts.chartList,
  }),
  createChart: define({
    method: "POST",
    path: "/charts",
    permission: "charts:write",
    body: charts.createChartBody,
    bodyBytesMax: chartBytesMax,
    status: 201,
    response: charts.chartView,
  }),
  getChart: define({
    method: "GET",
    path: "/charts/:chartId",
    permission: "charts:read",
    params: chartParams,
    response: charts.chartView,
  }),
  saveDraft: define({
    method: "PUT",
    path: "/charts/:chartId/draft",
    permission: "charts:write",
    params: chartParams,
    body: charts.saveDraftBody,
    bodyBytesMax: chartBytesMax,
    response: charts.savedDraft,
  }),
  publishVersion: define({
    method: "POST",
    path: "/charts/:chartId/versions",
    permission: "charts:publish",
    params: chartParams,
    body: charts.publishBody,
    status: 201,
    response: charts.versionView,
  }),
  getVersion: define({
    method: "GET",
    path: "/charts/:chartId/versions/:version",
    permission: "charts:read",
    params: z.object({ chartId: id, version: textInt(1, versionMax) }),
    response: charts.versionView,
  }),
  listInstances: define({
    method: "GET",
    path: "/instances",
    permission: "instances:read",
    query: instances.instanceQuery,
    response: instances.instanceList,
  }),
  startInstance: define({
    method: "POST",
    path: "/instances",
    permission: "instances:start",
    body: instances.startInstanceBody,
    status: 201,
    idempotent: true,
    response: instances.instanceView,
  }),
  getInstance: define({
    method: "GET",
    path: "/instances/:instanceId",
    permission: "instances:read",
    params: instanceParams,
    response: instances.instanceView,
  }),
  deleteInstance: define({
    method: "DELETE",
    path: "/instances/:instanceId",
    permission: "instances:control",
    params: instanceParams,
    body: instances.deleteInstanceBody,
    idempotent: true,
    response: instances.deleteInstanceResult,
  }),
  suspendInstance: define({
    method: "POST",
    path: "/instances/:instanceId/suspend",
    ...control,
  }),
  resumeInstance: define({
    method: "POST",
    path: "/instances/:instanceId/resume",
    ...control,
  }),
  cancelInstance: define({
    method: "POST",
    path: "/instances/:instanceId/cancel",
    ...control,
  }),
  terminateInstance: define({
    method: "POST",
    path: "/instances/:instanceId/terminate",
    ...control,
  }),
  redriveInstance: define({
    method: "POST",
    path: "/instances/:instanceId/redrive",
    ...control,
  }),
  forkInstance: define({
    method: "POST",
    path: "/instances/:instanceId/fork",
    permission: "instances:control",
    params: instanceParams,
    body: instances.forkBody,
    idempotent: true,
    status: 201,
    response: instances.instanceView,
  }),
  resetInstance: define({
    method: "POST",
    path: "/instances/:instanceId/reset",
    ...control,
    body: instances.resetBody,
  }),
  migrateInstance: define({
    method: "POST",
    path: "/instances/:instanceId/migrate",
    ...control,
    body: instances.migrateBody,
    response: instances.migrateResult,
  }),
  listDeadLetters: define({
    method: "GET",
    path: "/dead-letters",
    permission: "instances:read",
    query: instances.deadLetterQuery,
    response: instances.deadLetterList,
  }),
  retryDeadLetter: define({
    method: "POST",
    path: "/instances/:instanceId/dead-letters/:messageId/retry",
    permission: "instances:control",
    params: z.object({ instanceId: id, messageId: id }),
    body: instances.retryDeadLetterBody,
    response: instances.sendResult,
  }),
  sendEvent: define({
    method: "POST",
    path: "/instances/:instanceId/events",
    permission: "events:send",
    params: instanceParams,
    body: instances.sendEventBody,
    idempotent: true,
    response: instances.sendResult,
  }),
  sendEvents: define({
    method: "POST",
    path: "/instances/:instanceId/events/batch",
    permission: "events:send",
    params: instanceParams,
    body: instances.sendEventsBody,
    idempotent: true,
    response: instances.sendEventsResult,
  }),
  openSession: define({
    method: "POST",
    path: "/instances/:instanceId/sessions",
    permission: "events:send",
    params: instanceParams,
    body: instances.openSessionBody,
    idempotent: true,
    status: 201,
    response: instances.openSessionResult,
  }),
  renewSession: define({
    method: "POST",
    path: "/instances/:instanceId/sessions/renew",
    permission: "events:send",
    params: instanceParams,
    body: instances.renewSessionBody,
    response: instances.renewSessionResult,
  }),
  endSession: define({
    method: "POST",
    path: "/instances/:instanceId/sessions/end",
    permission: "events:send",
    params: instanceParams,
    body: instances.endSessionBody,
    response: instances.endSessionResult,
  }),
  getMessage: define({
    method: "GET",
    path: "/instances/:instanceId/messages/:messageId",
    permission: "instances:read",
    params: z.object({ instanceId: id, messageId: id }),
    response: instances.messageResult,
  }),
  getState: define({
    method: "GET",
    path: "/instances/:instanceId/state",
    permission: "instances:read",
    params: instanceParams,
    query: instances.stateQuery,
    response: instances.stateAt,
  }),
  getLog: define({
    method: "GET",
    path: "/instances/:instanceId/log",
    permission: "instances:read",
    params: instanceParams,
    query: instances.logQuery,
    response: instances.logPage,
  }),
  getLogEntry: define({
    method: "GET",
    path: "/instances/:instanceId/log/:seq",
    permission: "instances:read",
    params: z.object({ instanceId: id, seq: textInt(1, Number.MAX_SAFE_INTEGER) }),
    response: instances.logEntryDetail,
  }),
  listLocks: define({
    method: "GET",
    path: "/locks",
    permission: "locks:read",
    query: locks.lockQuery,
    response: locks.lockList,
  }),
  getLock: define({
    method: "GET",
    path: "/locks/:key",
    permission: "locks:read",
    params: locks.lockParams,
    response: locks.lockView,
  }),
  getLockLog: define({
    method: "GET",
    path: "/locks/:key/log",
    permission: "locks:read",
    params: locks.lockParams,
    query: locks.lockLogQuery,
    response: locks.lockLogPage,
  }),
  acquireLock: define({
    method: "POST",
    path: "/locks/:key/acquire",
    permission: "locks:use",
    params: locks.lockParams,
    body: locks.acquireBody,
    idempotent: true,
    response: locks.acquireResult,
  }),
  acquireLocks: define({
    method: "POST",
    path: "/locks/acquire",
    permission: "locks:use",
    body: locks.acquireLocksBody,
    idempotent: true,
    response: locks.acquireLocksResult,
  }),
  renewLock: define({
    method: "POST",
    path: "/locks/:key/renew",
    permission: "locks:use",
    params: locks.lockParams,
    body: locks.renewBody,
    idempotent: true,
    response: locks.renewResult,
  }),
  releaseLock: define({
    method: "POST",
    path: "/locks/:key/release",
    permission: "locks:use",
    params: locks.lockParams,
    body: locks.releaseBody,
    idempotent: true,
    response: locks.releaseResult,
  }),
  forceReleaseLock: define({
    method: "POST",
    path: "/locks/:key/force-release",
    permission: "locks:force",
    params: locks.lockParams,
    body: locks.forceReleaseBody,
    idempotent: true,
    response: locks.forceReleaseResult,
  }),
  listTasks: define({
    method: "GET",
    path: "/instances/:instanceId/tasks",
    permission: "tasks:read",
    params: instanceParams,
    query: tasks.taskQuery,
    response: tasks.taskList,
  }),
  listChildren: define({
    method: "GET",
    path: "/instances/:instanceId/tasks/:taskId/children",
    permission: "instances:read",
    params: tasks.taskParams,
    query: instances.childQuery,
    response: instances.childList,
  }),
  listOpenTasks: define({
    method: "GET",
    path: "/tasks",
    permission: "tasks:read",
    query: tasks.openTaskQuery,
    response: tasks.taskList,
  }),
  takeTask: define({
    method: "POST",
    path: "/instances/:instanceId/tasks/:taskId/take",
    permission: "tasks:work",
    params: tasks.taskParams,
    body: tasks.takeTaskBody,
    response: tasks.taskView,
  }),
  answerTask: define({
    method: "POST",
    path: "/instances/:instanceId/tasks/:taskId/answer",
    permission: "tasks:work",
    params: tasks.taskParams,
    body: tasks.answerTaskBody,
    response: tasks.answerTaskResult,
  }),
  claimTasks: define({
    method: "POST",
    path: "/tasks/claim",
    permission: "tasks:work",
    body: tasks.claimBody,
    response: tasks.claimResult,
  }),
  heartbeatTask: define({
    method: "POST",
    path: "/tasks/heartbeat",
    permission: "tasks:work",
    body: tasks.heartbeatBody,
    response: tasks.heartbeatResult,
  }),
  completeTask: define({
    method: "POST",
    path: "/tasks/complete",
    permission: "tasks:work",
    body: tasks.completeBody,
    response: tasks.completeResult,
  }),
  failTask: define({
    method: "POST",
    path: "/tasks/fail",
    permission: "tasks:work",
    body: tasks.failBody,
    response: tasks.failResult,
  }),
  releaseTask: define({
    method: "POST",
    path: "/tasks/release",
    permission: "tasks:work",
    body: tasks.releaseBody,
    response: tasks.releaseTaskResult,
  }),
  countBatch: define({
    method: "POST",
    path: "/batches/count",
    permission: "instances:read",
    body: batches.countBatchBody,
    response: batches.batchCount,
  }),
  createBatch: define({
    method: "POST",
    path: "/batches",
    permission: "instances:control",
    body: batches.createBatchBody,
    status: 201,
    idempotent: true,
    response: batches.batchView,
  }),
  listBatches: define({
    method: "GET",
    path: "/batches",
    permission: "instances:read",
    query: batches.batchQuery,
    response: batches.batchList,
  }),
  getBatch: define({
    method: "GET",
    path: "/batches/:batchId",
    permission: "instances:read",
    params: batchParams,
    response: batches.batchView,
  }),
  listBatchItems: define({
    method: "GET",
    path: "/batches/:batchId/items",
    permission: "instances:read",
    params: batchParams,
    query: batches.batchItemQuery,
    response: batches.batchItemList,
  }),
  cancelBatch: define({
    method: "POST",
    path: "/batches/:batchId/cancel",
    permission: "instances:control",
    params: batchParams,
    body: none,
    response: batches.batchView,
  }),
  resumeBatch: define({
    method: "POST",
    path: "/batches/:batchId/resume",
    permission: "instances:control",
    params: batchParams,
    body: none,
    response: batches.batchView,
  }),
  listSchedules: define({
    method: "GET",
    path: "/schedules",
    permission: "schedules:read",
    query: schedules.scheduleQuery,
    response: schedules.scheduleList,
  }),
  createSchedule: define({
    method: "POST",
    path: "/schedules",
    permission: "schedules:write",
    body: schedules.createScheduleBody,
    status: 201,
    response: schedules.scheduleView,
  }),
  getSchedule: define({
    method: "GET",
    path: "/schedules/:scheduleId",
    permission: "schedules:read",
    params: scheduleParams,
    response: schedules.scheduleDetail,
  }),
  updateSchedule: define({
    method: "PUT",
    path: "/schedules/:scheduleId",
    permission: "schedules:write",
    params: scheduleParams,
    body: schedules.updateScheduleBody,
    response: schedules.scheduleView,
  }),
  deleteSchedule: define({
    method: "DELETE",
    path: "/schedules/:scheduleId",
    permission: "schedules:write",
    params: scheduleParams,
    response: z.object({ id: z.string() }),
  }),
  pauseSchedule: define({
    method: "POST",
    path: "/schedules/:scheduleId/pause",
    permission: "schedules:write",
    params: scheduleParams,
    body: none,
    response: schedules.scheduleView,
  }),
  resumeSchedule: define({
    method: "POST",
    path: "/schedules/:scheduleId/resume",
    permission: "schedules:write",
    params: scheduleParams,
    body: none,
    response: schedules.scheduleView,
  }),
  runSchedule: define({
    method: "POST",
    path: "/schedules/:scheduleId/run",
    permission: "schedules:write",
    params: scheduleParams,
    body: none,
    idempotent: true,
    response: schedules.runScheduleResult,
  }),
  listTicks: define({
    method: "GET",
    path: "/schedules/:scheduleId/ticks",
    permission: "schedules:read",
    params: scheduleParams,
    query: schedules.tickQuery,
    response: schedules.tickList,
  }),
  listWorkers: define({
    method: "GET",
    path: "/workers",
    permission: "system:read",
    response: tasks.workerList,
  }),
  beatWorker: define({
    method: "POST",
    path: "/workers/:workerId/beat",
    permission: "tasks:work",
    params: z.object({ workerId: tasks.workerId }),
    body: tasks.beatWorkerBody,
    response: tasks.beatWorkerResult,
  }),
  drainWorker: define({
    method: "POST",
    path: "/workers/:workerId/drain",
    permission: "system:control",
    params: operations.workerParams,
    body: operations.drainWorkerBody,
    response: operations.drainWorkerResult,
  }),
  resetBreaker: define({
    method: "POST",
    path: "/workers/:workerId/breakers/reset",
    permission: "system:control",
    params: operations.workerParams,
    body: operations.resetBreakerBody,
    response: operations.resetBreakerResult,
  }),
  getFleet: define({
    method: "GET",
    path: "/fleet",
    permission: "instances:read",
    query: operations.fleetQuery,
    response: operations.fleetView,
  }),
  listFleet: define({
    method: "GET",
    path: "/fleet/instances",
    permission: "instances:read",
    query: operations.fleetListQuery,
    response: operations.fleetList,
  }),
  listAudit: define({
    method: "GET",
    path: "/audit",
    permission: "system:read",
    query: operations.auditQuery,
    response: operations.auditList,
  }),
  listRetention: define({
    method: "GET",
    path: "/retention",
    permission: "system:read",
    response: operations.retentionList,
  }),
  setRetention: define({
    method: "PUT",
    path: "/retention/:rule",
    permission: "system:control",
    params: operations.retentionParams,
    body: operations.setRetentionBody,
    response: operations.retentionRuleView,
  }),
  previewRetention: define({
    method: "GET",
    path: "/retention/:rule/preview",
    permission: "system:read",
    params: operations.retentionParams,
    query: operations.previewRetentionQuery,
    response: operations.retentionPreview,
  }),
  getHealth: define({
    method: "GET",
    path: "/health",
    permission: "system:read",
    response: z.object({
      status: z.enum(["ok", "degraded"]),
      /** What is wrong, in one sentence. */
      trouble: z.string().nullable(),
      database: z.enum(["sqlite", "postgresql"]),
      now: timestamp,
      /** Of the process that answers, since its start: run again because others were in their way (40P01, 40001). */
      repeatedTransactions: z.int(),
    }),
  }),
  /** 503 when not. */
  getReadiness: define({
    method: "GET",
    path: "/ready",
    permission: "system:read",
    response: z.object({
      ready: z.boolean(),
      /** Why not, in one sentence. */
      reason: z.string().nullable(),
    }),
  }),
} satisfies Record<string, Endpoint>;

export type Endpoints = typeof endpoints;
export type EndpointName = keyof Endpoints;
export type ParamsOf<N extends EndpointName> = z.infer<Endpoints[N]["params"]>;
export type QueryOf<N extends EndpointName> = z.infer<Endpoints[N]["query"]>;
export type BodyOf<N extends EndpointName> = Endpoints[N]["body"] extends z.ZodType
  ? z.infer<Endpoints[N]["body"]>
  : undefined;
export type ResponseOf<N extends EndpointName> = z.infer<Endpoints[N]["response"]>;

/** The header that names a call for safe repetition. */
export const idempotencyHeader = "Idempotency-Key";
export { idempotencyKey };
