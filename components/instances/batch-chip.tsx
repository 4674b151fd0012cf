/** How a batch is: filled chip, sign and word. What it is: its name, and to which entry or version. */
import { Chip } from "@/components/ui/chip";
import type { BatchView } from "@/lib/contract/batches";
import { batchLooks, targetWords } from "./batch-words";

export function BatchChip({ batch }: { batch: Pick<BatchView, "status"> }) {
  const { tone, icon, word } = batchLooks[batch.status];
  return (
    <Chip tone={tone} dot={!icon} {...(icon ? { icon } : {})} data-testid="batch-status">
      {word}
    </Chip>
  );
}

export function BatchName({ batch }: { batch: BatchView }) {
  const target = targetWords(batch);
  return (
    <span title={[batch.name, target].filter((part) => part !== null).join(" ")}>
      {batch.name}
      {target === null ? null : <span className="font-normal text-text-2"> {target}</span>}
    </span>
  );
}
