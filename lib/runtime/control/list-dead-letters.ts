/** Messages that were set aside, newest first: of one instance, or of all. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { Json } from "@/lib/base/json";
import type { DeadLetterRow } from "@/lib/store/instances";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "../call";
import type { RuntimeContext } from "../runtime-context";

export interface DeadLetter {
  instanceId: string;
  messageId: string;
  type: string;
  data: Json;
  actor: string;
  cause: string | null;
  enqueuedAt: number;
  at: number;
  /** `step-failed`, `instance-ended`, `killed-process`, or the code of the refusal that it met when its turn came. */
  reason: string;
  /** The message that it was sent again as. */
  retriedAs: string | null;
}

export async function listDeadLetters(
  { store }: RuntimeContext,
  actor: Actor,
  args: PageArgs & { instanceId?: string | undefined },
): Promise<Page<DeadLetter>> {
  requirePermission(actor, "instances:read");
  const after = readCursor(args.cursor, { at: 0, instanceId: "", messageId: "" });
  const limit = pageLimit(args.limit);
  const rows = await store.listDeadLetters(args.instanceId ?? null, after, limit + 1);
  return pageOf(
    rows,
    limit,
    ({ at, instanceId, messageId }) => ({ at, instanceId, messageId }),
    viewDeadLetter,
  );
}

function viewDeadLetter({ incarnation: _, input, ...row }: DeadLetterRow): DeadLetter {
  const given = JSON.parse(input) as { data?: Json; output?: Json; error?: Json };
  return { ...row, data: given.data ?? given.output ?? given.error ?? null };
}
