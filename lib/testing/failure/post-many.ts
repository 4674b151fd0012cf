/** Events put into mailboxes as another process would, without stepping anything and without a hint. */
import { must } from "@/lib/base/assert";
import type { JsonObject } from "@/lib/base/json";
import { newMessageId } from "@/lib/runtime/new-id";
import type { MessageRow } from "@/lib/store/instances";
import { noWrites } from "@/lib/store/steps";
import type { Store } from "@/lib/store/store";

/** `each` events for every instance, all in one transaction. */
export async function postMany(
  store: Store,
  instanceIds: readonly string[],
  each: number,
  type: string,
  data: JsonObject,
): Promise<MessageRow[]> {
  const rows = await Promise.all(instanceIds.map((id) => store.findInstance(id)));
  return store.transaction(async (tx) => {
    const enqueuedAt = await tx.now();
    const enqueued = rows.flatMap((row) => {
      const { id: instanceId, incarnation } = must(row, "the instance is there");
      return Array.from({ length: each }, () => ({
        instanceId,
        incarnation,
        messageId: newMessageId(),
        type,
        input: JSON.stringify({ kind: "event", type, data }),
        actor: "local",
        cause: null,
        enqueuedAt,
        dedupeScope: null,
        dedupeKey: null,
        expectedSeq: null,
        fences: null,
      }));
    });
    await tx.writeSteps({ ...noWrites(), enqueued });
    return enqueued;
  });
}
