/**
 * Names of what is cached in the tab, so that the live stream can say what is stale. The first two parts are the thing and
 * its id; what follows is the part of it that a page reads.
 */
export const queryKeys = {
  charts: ["charts"] as const,
  chart: (chartId: string) => ["chart", chartId] as const,
  version: (chartId: string, version: number) => ["version", chartId, version] as const,
  instances: ["instances"] as const,
  instance: (instanceId: string) => ["instance", instanceId] as const,
  /** Entries of the log never change: not under `instance`, so that news does not fetch history again. */
  history: (instanceId: string) => ["history", instanceId] as const,
  openTasks: ["open-tasks"] as const,
  workers: ["workers"] as const,
  schedules: ["schedules"] as const,
  schedule: (scheduleId: string) => ["schedule", scheduleId] as const,
  batches: ["batches"] as const,
  batch: (batchId: string) => ["batch", batchId] as const,
  locks: ["locks"] as const,
  lock: (key: string) => ["lock", key] as const,
};
