/**
 * What the verbs that suspend, resume, cancel, terminate and redrive have in common: one entry of kind `control` with actor
 * and reason, the status after it, the audit row, all in one transaction.
 *
 * Holds: I1 the entry takes the next seq. A verb that finds the instance as it would leave it changes nothing and says so.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { halted, type ControlInput } from "./apply-control";
import { isEnded, type InstanceStatus } from "../instances/instance-views";
import { inTurn, type Guarded, type HeldTurn } from "../stepping/in-turn";
import { newAuditId } from "../new-id";
import { nothingLeft, sequenceConflict, wrongStatus } from "../refusals";
import { requirePayload, requireText } from "../require-payload";
import type { RuntimeContext } from "../runtime-context";

export interface ControlArgs extends Guarded {
  /** Kept in the log and the audit. */
  reason: string;
}
export interface ControlResult {
  instanceId: string;
  /** Of the control entry; of the newest one when nothing was changed. */
  seq: number;
  status: InstanceStatus;
  configuration: string[];
  /** False when the instance was as the verb would leave it. */
  changed: boolean;
  /** Messages left in the mailbox. */
  pending: number;
  replayed: boolean;
}

export interface ControlVerb {
  verb: ControlInput["verb"];
  /** Statuses from which it is possible. */
  from: readonly InstanceStatus[];
  /** Statuses in which there is nothing to do. */
  done: readonly InstanceStatus[];
  /** The seq at which the caller's wish was looked into: refused when the instance has moved on since. */
  lookedAt?: number;
  /** Completes the entry's input. */
  inputOf?: (input: ControlInput, held: HeldTurn) => ControlInput | Promise<ControlInput>;
  /** After the entry is recorded. */
  afterEntry?: (held: HeldTurn) => void | Promise<void>;
}

/** From such an entry on it can be replayed, though it never began. */
const isEnding = (verb: ControlInput["verb"]): boolean => verb === "terminate" || verb === "cancel";

/** Throws `not-found`, `instance-ended`, `wrong-status`, `sequence-conflict`, `stale-fence`, `idempotency-key-reuse`. */
export async function controlInstance(
  context: RuntimeContext,
  actor: Actor,
  args: ControlArgs,
  { verb, from, done, lookedAt, inputOf, afterEntry }: ControlVerb,
): Promise<ControlResult> {
  requirePermission(actor, "instances:control");
  requireText(args.reason, "reason");
  requirePayload(args.reason, "reason");
  return inTurn(context, {
    verb,
    actor,
    args,
    async work(held) {
      const { tx, row, now, turn } = held;
      const status = row.status as InstanceStatus;
      const answer = (seq: number, changed: boolean) => (): ControlResult => ({
        instanceId: row.id,
        seq,
        status: turn.row.status as InstanceStatus,
        configuration: turn.snapshot.configuration,
        changed,
        pending: turn.pending,
        replayed: false,
      });
      if (done.includes(status)) return answer(row.seq, false);
      if (isEnded(status)) throw nothingLeft(row, verb);
      if (!from.includes(status)) throw wrongStatus(row, verb, from);
      if (lookedAt !== undefined && lookedAt !== row.seq)
        throw sequenceConflict({ expectedSeq: lookedAt }, row);

      const data = { reason: args.reason };
      const begun = status === "queued" && isEnding(verb) ? { snapshot: halted(turn.snapshot) } : {};
      const plain = { kind: "control", verb, data, ...begun } as ControlInput;
      const input = inputOf ? await inputOf(plain, held) : plain;
      turn.control(input, { actor: actor.id, dedupeKey: args.idempotencyKey });
      await afterEntry?.(held);
      await tx.writeAudit({
        id: newAuditId(),
        at: now,
        actor: actor.id,
        action: `${verb}-instance`,
        target: `instance:${row.id}`,
        outcome: "done",
        details: JSON.stringify({ seq: row.seq + 1, reason: args.reason }),
      });
      return answer(row.seq + 1, true);
    },
  });
}
