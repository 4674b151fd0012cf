/**
 * What an invocation of children asks for and when it is over, as pure functions: `chart` (one child) and `each` (one per
 * item, at most `cap` at once).
 *
 * Holds: `each` is decided once, by the counters in its task's row: whoever ends a child holds that row. A failed child never
 *        leaves the join waiting: either enough can still succeed, or it is over.
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import type { ChildRow } from "@/lib/store/children";
import type { InstanceRow } from "@/lib/store/instances";
import type { TaskRow } from "@/lib/store/tasks";
import { payloadBytesMax } from "@/lib/base/limits";
import { isStorable } from "@/lib/base/storable-text";
import { childCap, childCapMax, childrenMax } from "../limits";
import type { TaskError } from "./task-rules";

export type ChildEnd = { output: Json } | { error: TaskError };

export interface ChartRequest {
  chartId: string;
  version: number | undefined;
  id: string | undefined;
  input: Json;
}
export interface EachRequest {
  chartId: string;
  version: number | undefined;
  items: Json[];
  cap: number;
  /** How many must succeed; null: all must have ended. */
  need: number | null;
  onFailed: "fail" | "continue";
}

/** An `each` under way, kept as its task's progress: an operator sees it there. */
export interface EachProgress {
  chartId: string;
  version: number;
  cap: number;
  need: number | null;
  onFailed: "fail" | "continue";
  total: number;
  started: number;
  succeeded: number;
  failed: number;
}

export type Read<T> = { request: T } | { error: TaskError };

const wrong = (message: string): { error: TaskError } => ({ error: { code: "bad-input", message } });

export function readChartRequest(input: Json): Read<ChartRequest> {
  const named = readNamed(input);
  if ("error" in named) return named;
  const { id, input: given = null } = named.rest;
  if (id !== undefined && (typeof id !== "string" || id === "" || !isStorable(id)))
    return wrong("`id` must be the text that names the child");
  return { request: { ...named.chart, id, input: given } };
}

export function readEachRequest(input: Json): Read<EachRequest> {
  const named = readNamed(input);
  if ("error" in named) return named;
  const { items, cap = childCap, join = "all" } = named.rest;
  if (!Array.isArray(items) || items.length > childrenMax)
    return wrong(`\`items\` must be a list of at most ${childrenMax}`);
  if (typeof cap !== "number" || !Number.isInteger(cap) || cap < 1 || cap > childCapMax)
    return wrong(`\`cap\` must be a whole number from 1 to ${childCapMax}`);
  const quorum = isJsonObject(join) ? join.quorum : undefined;
  const isQuorum = typeof quorum === "number" && Number.isInteger(quorum) && quorum >= 1;
  if (join !== "all" && join !== "any" && !isQuorum)
    return wrong("`join` must be 'all', 'any' or {quorum: n}");
  const { onFailed = join === "all" ? "fail" : "continue" } = named.rest;
  if (onFailed !== "fail" && onFailed !== "continue") return wrong("`onFailed` must be 'fail' or 'continue'");
  const all = onFailed === "fail" ? items.length : null;
  const need = join === "all" ? all : isQuorum ? quorum : 1;
  return { request: { ...named.chart, items, cap, need, onFailed } };
}

function readNamed(
  input: Json,
): { chart: { chartId: string; version: number | undefined }; rest: JsonObject } | { error: TaskError } {
  if (!isJsonObject(input)) return wrong("the input must be an object that names a `chart`");
  const { chart: chartId, version, ...rest } = input;
  if (typeof chartId !== "string" || chartId === "" || !isStorable(chartId))
    return wrong("`chart` must be the id of a chart");
  if (version !== undefined && (typeof version !== "number" || !Number.isInteger(version) || version < 1))
    return wrong("`version` must be a whole number from 1");
  return { chart: { chartId, version }, rest };
}

export const progressOf = (task: TaskRow): EachProgress => JSON.parse(task.progress ?? "{}") as EachProgress;

export const withProgress = (task: TaskRow, progress: EachProgress, now: number): TaskRow => ({
  ...task,
  progress: JSON.stringify(progress),
  updatedAt: now,
});

export const runningOf = ({ started, succeeded, failed }: EachProgress): number =>
  started - succeeded - failed;

/** How many more may begin now. */
export const roomOf = (progress: EachProgress): number =>
  Math.max(0, Math.min(progress.cap - runningOf(progress), progress.total - progress.started));

/** `first`: the child that failed first, of those that this transaction ends. */
export function decide(progress: EachProgress, first: TaskError | null): "open" | "done" | TaskError {
  const { total, succeeded, failed, need, onFailed } = progress;
  if (onFailed === "fail" && failed > 0)
    return {
      code: "child-failed",
      message: first?.message ?? "a child failed",
      ...(first?.data === undefined ? {} : { data: first.data }),
    };
  const left = total - succeeded - failed;
  if (need === null) return left === 0 ? "done" : "open";
  if (succeeded >= need) return "done";
  if (succeeded + left >= need) return "open";
  return {
    code: "join-impossible",
    message: `${need} of ${total} children had to succeed: ${succeeded} did, ${failed} failed`,
    data: { total, need, succeeded, failed },
  };
}

/** Results by index, null where there is none; the errors of those that failed. */
export function joinedOutput(rows: readonly ChildRow[], total: number): ChildEnd {
  const results = Array.from({ length: total }, (): Json => null);
  const errors: JsonObject[] = [];
  for (const { place, result, error } of rows) {
    if (result !== null) results[place] = JSON.parse(result) as Json;
    if (error !== null) errors.push({ ...(JSON.parse(error) as JsonObject), index: place });
  }
  const succeeded = rows.filter(({ status }) => status === "succeeded").length;
  return bounded({ results, errors, succeeded, failed: errors.length }, `the results of ${total} children`);
}

/** An output that no message could carry is an error. */
export function bounded(output: Json, what: string): ChildEnd {
  if (JSON.stringify(output).length <= payloadBytesMax) return { output };
  const message = `${what} are more than ${payloadBytesMax / 1024} KiB: store the rest elsewhere and answer its address`;
  return { error: { code: "payload-too-large", message } };
}

/** What the end of an instance is to the invocation that it is. */
export function endOf({ id, status, errorCode, errorMessage }: InstanceRow, output: Json): ChildEnd {
  if (status === "completed") return bounded(output, `the output of ${id}`);
  const why = status === "failed" ? `: ${errorMessage ?? ""}` : "";
  return {
    error: {
      code: `child-${status}`,
      message: `the child ${id} has ${status === "failed" ? "failed" : `been ${status}`}${why}`,
      data: { instanceId: id, ...(errorCode === null ? {} : { code: errorCode }) },
    },
  };
}

/** The child's row as its end leaves it. */
export const endedChild = (row: ChildRow, end: ChildEnd): ChildRow =>
  "output" in end
    ? { ...row, status: "succeeded", result: JSON.stringify(end.output) }
    : {
        ...row,
        status: end.error.code === "child-failed" ? "failed" : "cancelled",
        error: JSON.stringify(end.error),
      };
