/**
 * The session of a lock that a state holds: `state:INSTANCE:INCARNATION:GENERATION:INVOKEID`. Nobody else may use such a name.
 */
import type { TaskRow } from "@/lib/store/tasks";

/** A lock that a state holds has no lease: later than any clock. */
export const noLeaseUntil = Number.MAX_SAFE_INTEGER;

const prefix = "state:";

export const isStateSession = (session: string): boolean => session.startsWith(prefix);

export const stateSessionOf = (task: Pick<TaskRow, "instanceId" | "incarnation" | "taskId">): string =>
  `${prefix}${task.instanceId}:${task.incarnation}:${task.taskId}`;

/** Null when it is no such name. The instance's id and the invocation's may hold colons themselves. */
export function taskOfSession(
  session: string,
  instanceId: string,
): Pick<TaskRow, "instanceId" | "incarnation" | "taskId"> | null {
  const start = `${prefix}${instanceId}:`;
  if (!session.startsWith(start)) return null;
  const found = /^([0-9]+):([0-9]+:.+)$/s.exec(session.slice(start.length));
  if (!found?.[1] || !found[2]) return null;
  return { instanceId, incarnation: Number(found[1]), taskId: found[2] };
}
