/**
 * What is remembered of the instances that invocations asked for: one row for each that has begun.
 */
import type { TaskRow } from "./tasks";

/** The invocation that an instance is a child of, and its place in it. */
export interface ParentRef {
  instanceId: string;
  incarnation: number;
  taskId: string;
  /** From 0. */
  place: number;
}
export interface FamilyKey {
  parentId: string;
  parentIncarnation: number;
  /** taskId. */
  parentTask: string;
}
export interface ChildKey extends FamilyKey {
  place: number;
}
/** `orphan`: nobody waits for it any more, it is to end. */
export type ChildStatus = "running" | "orphan" | "succeeded" | "failed" | "cancelled";
export interface ChildRow extends ChildKey {
  childId: string;
  status: ChildStatus;
  /** JSON. */
  result: string | null;
  /** JSON: {code, message}. */
  error: string | null;
}

/** A child with the instance that it is, as that is now; null where it has been deleted. */
export interface ListedChild extends ChildRow {
  chartId: string | null;
  version: number | null;
  instanceStatus: string | null;
  /** JSON: names of the active atomic states. */
  configuration: string | null;
}

/** What happens to child rows in a transaction of steps. */
export interface ChildWrites {
  childrenBegun: ChildRow[];
  childrenEnded: ChildRow[];
  /** Families that nobody waits for any more: who runs becomes an orphan. */
  childrenLeft: FamilyKey[];
}

export interface ChildReads {
  /** Tasks of child kinds at which somebody must look: to begin children, or since their time is over. */
  findDueFamilies(now: number, limit: number): Promise<TaskRow[]>;
  /** Orphans that have not been asked to end; `atOnce`: their parent was terminated or deleted. */
  findOrphans(limit: number): Promise<{ childId: string; atOnce: boolean }[]>;
  /** Of one invocation, by place: those behind `after` (null: all), of one status or all (null). */
  listFamily(
    family: FamilyKey,
    status: ChildStatus | null,
    after: number | null,
    limit: number,
  ): Promise<ListedChild[]>;
  /** How many children an invocation has had, by status; a status without any is left out. */
  countFamily(family: FamilyKey): Promise<{ status: ChildStatus; count: number }[]>;
  /** How many children an instance has had. */
  countChildren(parentId: string): Promise<number>;
}

export interface ChildTransaction {
  /** Call it after the family's task is held. */
  findChildren(keys: readonly ChildKey[]): Promise<ChildRow[]>;
  /** All of the family, by place. */
  readFamily(family: FamilyKey): Promise<ChildRow[]>;
}

export const familyOf = (task: Pick<TaskRow, "instanceId" | "incarnation" | "taskId">): FamilyKey => ({
  parentId: task.instanceId,
  parentIncarnation: task.incarnation,
  parentTask: task.taskId,
});
