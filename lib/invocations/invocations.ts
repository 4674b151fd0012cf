/**
 * What the server carries out by itself, put together.
 */
import type { Invocations } from "@/lib/runtime/tasks/invocation";
import { HostBreakers } from "./host-breakers";
import { httpTask } from "./http-task";

export function createInvocations(options: {
  allowedHosts: readonly string[];
  secrets: ReadonlyMap<string, string>;
}): Invocations {
  const breakers = new HostBreakers();
  return {
    byType: { http: httpTask({ ...options, breakers }) },
    note() {
      const open = breakers.list().map(({ name }) => name);
      return open.length === 0 ? null : `breaker open: ${open.slice(0, 20).join(", ")}`;
    },
    breakers: () => breakers.list(),
    resetBreaker: (name) => breakers.reset(name),
  };
}
