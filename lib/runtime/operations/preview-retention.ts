/** What a rule would remove now, counted and left alone. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { RuleName } from "@/lib/store/retention";
import { noRule } from "./retention-rules";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { portionOf } from "../workers/purge-old";

export interface RetentionPreview {
  rule: RuleName;
  keepMs: number | null;
  /** Of ended instances: the instances; of a lock's or an instance's log: those with entries to go; else rows. */
  count: number;
  /** False: there are at least so many; counting stopped at its time. */
  complete: boolean;
}

/** Counting stops after this much: the number is for a person. */
const budgetMs = 2_000;

/** `keepMs` default: the rule's own. */
export async function previewRetention(
  context: RuntimeContext,
  actor: Actor,
  args: { rule: RuleName; keepMs?: number | undefined },
): Promise<RetentionPreview> {
  requirePermission(actor, "system:read");
  requireOpen(context);
  const row = (await context.store.listRetention()).find(({ rule }) => rule === args.rule);
  if (!row) throw noRule(args.rule);
  const keepMs = args.keepMs ?? row.keepMs;
  const answer = { rule: row.rule, keepMs };
  if (keepMs === null) return { ...answer, count: 0, complete: true };
  const began = performance.now();
  const bound = (await context.store.now()) - keepMs;
  let count = 0;
  for (let place: string | null = null; ;) {
    const counted: { count: number; next: string | null } = await portionOf(context, row.rule, place, bound);
    count += counted.count;
    place = counted.next;
    if (place === null) return { ...answer, count, complete: true };
    if (performance.now() - began > budgetMs) return { ...answer, count, complete: false };
  }
}
