/** Whether the store answers and takes writes, and its time. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { NoArgs } from "../call";
import type { RuntimeContext } from "../runtime-context";

export interface Health {
  status: "ok" | "degraded";
  /** What is wrong, in one sentence. */
  trouble: string | null;
  database: "sqlite" | "postgresql";
  now: number;
  /** Transactions that the process which answers has run again since its start, because others were in their way. */
  repeatedTransactions: number;
}

export async function getHealth({ store }: RuntimeContext, actor: Actor, _args: NoArgs): Promise<Health> {
  requirePermission(actor, "system:read");
  const trouble = await store.trouble();
  const status = trouble === null ? "ok" : "degraded";
  return {
    status,
    trouble,
    database: store.database,
    now: await store.now(),
    repeatedTransactions: store.repeatedTransactions(),
  };
}
