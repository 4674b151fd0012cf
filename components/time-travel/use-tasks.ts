"use client";
/**
 * The instance's newest tasks as they are now: what it waits for, and the children that it asked for.
 */
import { useQuery } from "@tanstack/react-query";
import { queryKeys } from "@/components/ui/query-keys";
import { useClient } from "@/components/ui/use-client";
import type { TaskView } from "@/lib/contract/tasks";

export const tasksMax = 100;
/** Heartbeats make no news in the live stream. */
const againMs = 5_000;

export function useTasks(instanceId: string) {
  const client = useClient();
  return useQuery({
    queryKey: [...queryKeys.instance(instanceId), "tasks"],
    queryFn: ({ signal }) => client.listTasks({ instanceId, limit: tasksMax }, { signal }),
    refetchInterval: ({ state }) => (state.data?.items.some(isUnfinished) ? againMs : false),
  });
}

export const isUnfinished = (task: TaskView): boolean =>
  task.status === "pending" || task.status === "running";
