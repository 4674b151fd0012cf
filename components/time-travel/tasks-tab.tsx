"use client";
/**
 * The instance's tasks, now, newest first: what it waits for, who works on it, and what came of those before.
 *
 * Holds: leases are counted on the database's clock.
 */
import { Ban, Check, CircleX, Hammer, Hourglass, type LucideIcon } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { useDatabaseNow } from "@/components/locks/use-database-now";
import { shortStateName } from "@/components/instances/state-name";
import { Chip, type Tone } from "@/components/ui/chip";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatAge, formatCount } from "@/components/ui/time";
import type { TaskView } from "@/lib/contract/tasks";
import { isUnfinished, tasksMax, useTasks } from "./use-tasks";

export function TasksTab({ instanceId }: { instanceId: string }) {
  const tasks = useTasks(instanceId);
  const now = useDatabaseNow(tasks.data, tasks.dataUpdatedAt);
  if (tasks.error && !tasks.data) {
    return (
      <div className="p-3.5">
        <ErrorPanel
          title="Couldn’t read the tasks"
          error={tasks.error}
          onRetry={() => void tasks.refetch()}
        />
      </div>
    );
  }
  if (!tasks.data) return <SkeletonRows rows={3} />;
  const { items, nextCursor } = tasks.data;
  if (items.length === 0) {
    return (
      <Empty icon={Hammer} title="It has asked for nothing yet">
        Tasks appear here when a state with an invocation is entered.
      </Empty>
    );
  }
  return (
    <div className="overflow-x-auto px-3.5 py-3">
      <table className="w-full text-left text-table" data-testid="tasks">
        <thead className="text-hint text-text-3">
          <tr>
            {["Task", "Status", "Attempt", "Worker", "Lease"].map((name) => (
              <th key={name} scope="col" className="pr-3 pb-1 font-medium whitespace-nowrap">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((task) => (
            <TaskRows key={task.taskId} task={task} now={now} />
          ))}
        </tbody>
      </table>
      {nextCursor === null ? null : (
        <p className="pt-2 text-hint text-text-3">The newest {formatCount(tasksMax)} are shown.</p>
      )}
    </div>
  );
}

const looks: Record<TaskView["status"], { tone: Tone; icon: LucideIcon | null }> = {
  pending: { tone: "neutral", icon: Hourglass },
  running: { tone: "active", icon: null },
  succeeded: { tone: "neutral", icon: Check },
  failed: { tone: "failed", icon: CircleX },
  cancelled: { tone: "neutral", icon: Ban },
};

function TaskRows({ task, now }: { task: TaskView; now: number | null }) {
  const { tone, icon } = looks[task.status];
  const notes = notesOf(task, now);
  return (
    <>
      <tr className="border-t border-border align-top" data-testid="task">
        <td className="py-1.5 pr-3">
          <span className="block font-mono font-semibold">{task.type}</span>
          <span className="block text-hint text-text-3">
            {task.invokeId} in {shortStateName(task.state)}
          </span>
        </td>
        <td className="py-1.5 pr-3">
          <Chip tone={tone} dot={icon === null} {...(icon ? { icon } : {})} data-testid="task-status">
            {task.status}
          </Chip>
        </td>
        <td className="py-1.5 pr-3 whitespace-nowrap tabular-nums">
          {task.attempt} of {task.attemptsMax}
        </td>
        <td className="max-w-40 truncate py-1.5 pr-3 font-mono" title={task.worker ?? undefined}>
          {task.worker ?? "–"}
        </td>
        <td className="py-1.5 whitespace-nowrap tabular-nums">
          {task.leaseUntil === null || now === null ? "–" : leftOf(task.leaseUntil - now)}
        </td>
      </tr>
      {notes.length === 0 ? null : (
        <tr>
          <td colSpan={5} className="pb-1.5 text-hint text-text-2">
            {notes.map((note, index) => (
              <span key={index} className="block break-words">
                {note}
              </span>
            ))}
          </td>
        </tr>
      )}
    </>
  );
}

const leftOf = (ms: number): string => (ms <= 0 ? "ran out" : formatAge(ms));

function notesOf(task: TaskView, now: number | null): ReactNode[] {
  const notes: ReactNode[] = [];
  const { waits } = task;
  switch (waits?.for) {
    case "worker":
      notes.push(`waits for a worker that takes ${task.type}`);
      break;
    case "time":
      notes.push(
        now === null ? "waits for its next attempt" : `next attempt in ${formatAge(waits.until - now)}`,
      );
      break;
    case "key":
      notes.push(
        <>
          waits for {waits.key}, which{" "}
          <Link href={`/instances/${encodeURIComponent(waits.instanceId)}?tab=tasks`} className="underline">
            {waits.instanceId}
          </Link>{" "}
          has
        </>,
      );
      break;
    case "author":
      notes.push("only a placeholder: nothing carries it out");
      break;
    case "person":
      notes.push("waits for a person");
      break;
    case undefined:
  }
  if (task.error && task.status !== "succeeded") notes.push(`${task.error.code}: ${task.error.message}`);
  if (task.progress !== null && isUnfinished(task))
    notes.push(`progress ${JSON.stringify(task.progress).slice(0, 200)}`);
  return notes;
}
