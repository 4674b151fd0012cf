/** What is kept how long, and how far the walks have come. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { NoArgs } from "../call";
import { viewRule, type RetentionRuleView } from "./retention-rules";
import type { RuntimeContext } from "../runtime-context";

export async function listRetention(
  { store }: RuntimeContext,
  actor: Actor,
  _args: NoArgs,
): Promise<{ items: RetentionRuleView[]; now: number }> {
  requirePermission(actor, "system:read");
  return { items: (await store.listRetention()).map(viewRule), now: await store.now() };
}
