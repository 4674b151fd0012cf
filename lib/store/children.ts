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
/** `orphan`: nobody waits for it any more, it is to be terminated. */
export type ChildStatus = "running" | "orphan" | "succeeded" | "failed" | "cancelled";
export interface ChildRow extends ChildKey {
  childId: string;
  status: ChildStatus;
  /** JSON. */
  result: string | null;
  /** JSON: {code, message}. */
  error: string | null;
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
  findOrphans(limit: number): Promise<string[]>;
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
