/** How a batch is: filled chip, sign and word. */
import { Chip } from "@/components/ui/chip";
import type { BatchView } from "@/lib/contract/batches";
import { batchLooks } from "./batch-words";

export function BatchChip({ batch }: { batch: Pick<BatchView, "status"> }) {
  const { tone, icon, word } = batchLooks[batch.status];
  return (
    <Chip tone={tone} dot={!icon} {...(icon ? { icon } : {})} data-testid="batch-status">
      {word}
    </Chip>
  );
}
