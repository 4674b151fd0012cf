/** How long rows of a rule are kept; audited. The next walk begins anew. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { RuleName } from "@/lib/store/retention";
import { newAuditId } from "../new-id";
import { requireText } from "../require-payload";
import { answersKeptMinMs, isEndRule, noRule, viewRule, type RetentionRuleView } from "./retention-rules";
import { requireOpen, type RuntimeContext } from "../runtime-context";

export interface SetRetentionArgs {
  rule: RuleName;
  keepMs: number | null;
  then?: "purge" | "archive" | undefined;
  reason: string;
}

/** Throws `not-found`; `bad-request`: answers kept too short, an archive of anything but ended instances. */
export async function setRetention(
  context: RuntimeContext,
  actor: Actor,
  args: SetRetentionArgs,
): Promise<RetentionRuleView> {
  requirePermission(actor, "system:control");
  requireOpen(context);
  requireText(args.reason, "reason");
  const { rule, keepMs } = args;
  if (keepMs !== null && keepMs < 0) throw wrong("keepMs", "keepMs can't be negative.");
  if (rule === "answers" || rule === "lock-answers") {
    if (keepMs !== null && keepMs < answersKeptMinMs) {
      throw wrong("keepMs", `Answers are kept for ${answersKeptMinMs / 1000} s at least: repeats get them.`);
    }
  }
  if (args.then === "archive" && !isEndRule(rule)) {
    throw wrong("then", `Only ended instances are archived; ${rule} is purged.`);
  }
  return context.store.transaction(async (tx) => {
    // A portion under way is over within a moment: its worker waits for nothing.
    const before = await tx.holdRule(rule, { wait: true });
    if (!before) throw noRule(rule);
    const now = await tx.now();
    const after = {
      ...before,
      keepMs,
      then: args.then ?? before.then,
      updatedAt: now,
      updatedBy: actor.id,
      cursor: null,
      walkEnded: null,
    };
    await tx.writeRule(after);
    await tx.writeAudit({
      id: newAuditId(),
      at: now,
      actor: actor.id,
      action: "set-retention",
      target: `retention:${rule}`,
      outcome: "done",
      details: JSON.stringify({
        keepMs,
        then: after.then,
        before: { keepMs: before.keepMs, then: before.then },
        reason: args.reason,
      }),
    });
    return viewRule(after);
  });
}

const wrong = (field: string, message: string): LockstepError =>
  new LockstepError("bad-request", message, { details: { field } });
