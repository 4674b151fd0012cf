/** Every read of the store that is a statement of ours, over whatever runs statements. Charts are read by models. */
import { auditReads } from "./audit-queries";
import { batchReads } from "./batch-queries";
import { readChanges } from "./change-queries";
import { childReads } from "./child-queries";
import { concurrencyReads } from "./concurrency-queries";
import type { Provider, Reader } from "./connection";
import { dialects } from "./dialect";
import { fleetReads } from "./fleet-queries";
import { instanceReads } from "./instance-queries";
import { lockReads } from "./lock-queries";
import { retentionReads } from "./retention-queries";
import { scheduleReads } from "./schedule-queries";
import { taskReads } from "./task-queries";
import { workReads } from "./work-queries";
import { workerOrderReads } from "./worker-order-queries";
import { workerReads } from "./worker-queries";

/** `clock`: in tests, for the machine's. */
export function storeReads(reader: Reader, provider: Provider, clock?: () => number) {
  const dialect = dialects[provider];
  return {
    ...instanceReads(reader, dialect),
    ...lockReads(reader, dialect),
    ...taskReads(reader, dialect),
    ...concurrencyReads(reader),
    ...childReads(reader),
    ...workerOrderReads(reader, dialect),
    ...retentionReads(reader),
    ...fleetReads(reader, provider),
    ...workerReads(reader, dialect),
    ...workReads(reader, provider, clock),
    ...scheduleReads(reader, dialect),
    ...batchReads(reader, dialect),
    ...auditReads(reader),
    changesSince: (position: string | null, limit: number) => readChanges(reader, provider, position, limit),
  };
}
