/**
 * One control verb over many instances: accepted here, listed and carried out by workers (workers/run-batches).
 *
 * Holds: it is accepted at once, however many there are. What a filter selects is listed as it is when workers come to it,
 *        right after; what is created later is not in it. I4 with an idempotency key it is one batch.
 */
import type { Actor } from "@/lib/access/actor";
import type { BatchRow } from "@/lib/store/batches";
import type { InstanceCursor } from "@/lib/store/instances";
import { storedSelection, viewBatch, type BatchVerbArgs, type BatchView } from "./batch-views";
import { requireBatch, type BatchArgs } from "./require-batch";
import type { Idempotent } from "../call";
import { digestOf } from "../kept-answer";
import { newAuditId, newBatchId } from "../new-id";
import { keyReuse } from "../refusals";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";

export type CreateBatchArgs = BatchArgs & Idempotent;

/** Throws `bad-request`, `not-found` (chart), `version-not-found`, `idempotency-key-reuse`. */
export async function createBatch(
  context: RuntimeContext,
  actor: Actor,
  { idempotencyKey, ...given }: CreateBatchArgs,
): Promise<BatchView> {
  requireOpen(context);
  const args = { ...given, selection: await requireBatch(context, actor, given) };
  const { version, mapping = {}, seq = null, rearmTimers = false, laterEvents = false } = given;
  const verbArgs: BatchVerbArgs = {
    reason: args.reason,
    version: version ?? null,
    mapping,
    seq,
    rearmTimers,
    laterEvents,
  };
  return context.store.transaction(async (tx) => {
    const now = await tx.now();
    const id = newBatchId();
    const row: BatchRow = {
      id,
      name: args.name ?? nameOf(args),
      verb: args.verb,
      args: JSON.stringify(verbArgs),
      selection: storedSelection(args.selection),
      status: "listing",
      ratePerSecond: args.ratePerSecond ?? null,
      total: 0,
      ok: 0,
      refused: 0,
      skipped: 0,
      cursor: JSON.stringify({ createdAt: now + 1, id: "" } satisfies InstanceCursor),
      nextAt: now,
      token: null,
      createdAt: now,
      createdBy: actor.id,
      endedAt: null,
    };
    const view = viewBatch(row);
    if (idempotencyKey !== undefined) {
      const key = requireText(idempotencyKey, "Idempotency-Key");
      const digest = digestOf(args);
      const scope = `batch:${actor.id}`;
      const kept = { scope, key, digest, messageId: null, result: JSON.stringify(view), at: now };
      const earlier = await tx.claimAnswer(kept);
      if (earlier && earlier.digest !== digest) throw keyReuse(key);
      if (earlier?.result) return JSON.parse(earlier.result) as BatchView;
    }
    await tx.insertBatch(row);
    await tx.writeAudit({
      id: newAuditId(),
      at: now,
      actor: actor.id,
      action: "create-batch",
      target: `batch:${id}`,
      outcome: "done",
      details: JSON.stringify({ verb: args.verb, selection: args.selection, ...verbArgs }),
    });
    return view;
  });
}

/** `suspend 12 instances`, `terminate: chartId order, status failed`. */
function nameOf({ verb, selection }: CreateBatchArgs): string {
  if ("instanceIds" in selection) {
    const count = selection.instanceIds.length;
    return `${verb} ${count} ${count === 1 ? "instance" : "instances"}`;
  }
  const filters = Object.entries(selection.filter).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name} ${String(each)}`),
  );
  return filters.length === 0 ? `${verb} all instances` : `${verb}: ${filters.join(", ")}`.slice(0, 200);
}
