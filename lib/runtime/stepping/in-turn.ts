/**
 * A call that acts on one instance by hand, as one transaction: its row held (waited for, not skipped; of this process one
 * call at a time waits in the database), the call's own conditions checked, what the call does recorded, then the instance's
 * turn, and everything written.
 *
 * Holds: I2, I3 as step-batch.ts. I4 with an idempotency key (scope: caller, verb, instance and incarnation) a repeat gets
 *        the first answer; a refusal changed nothing and is not kept.
 */
import type { Actor } from "@/lib/access/actor";
import type { InstanceRow } from "@/lib/store/instances";
import { noWrites, type StepWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import type { Machine } from "@/lib/statechart/machine";
import type { Snapshot } from "@/lib/statechart/snapshot";
import { answerParents } from "../tasks/answer-parents";
import type { Idempotent } from "../call";
import { parseSnapshot, type Fence } from "../instances/instance-views";
import { digestOf, keptAnswer } from "../kept-answer";
import { engineSemantics, messagesPerTurnMax, turnBudgetMs } from "../limits";
import { logRejectedWrites } from "../locks/log-rejected-writes";
import { withMachines } from "../charts/machines";
import { instanceBusy, instanceNotFound } from "../refusals";
import { releaseStateLocks } from "../locks/state-locks";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { isDistributed } from "../locks/sender-lock";
import {
  admissionBy,
  fencesOf,
  postOutgoing,
  settleAnswers,
  type RejectedWrite,
  endingsOf,
  holdLocksOf,
  leavesChildren,
  locksLeftBy,
} from "./step-batch";
import { Turn, type Admission } from "./turn";

/** What every such call may carry. */
export interface Guarded extends Idempotent {
  instanceId: string;
  /** The call is refused unless the instance's last seq is this one. */
  expectedSeq?: number | undefined;
  /** Locks that the caller must still hold. */
  fences?: Fence[] | undefined;
}

export interface TurnCall<T> {
  verb: string;
  actor: Actor;
  /** Whose digest tells one call from another; all of them. */
  args: Guarded;
  /** The chart version by which its turn is run; default: the instance's. */
  version?: number;
  /** Records what the call does. What it gives back makes the answer, once the turn is over. */
  work: (held: HeldTurn) => (() => T) | Promise<() => T>;
}

export interface HeldTurn {
  readonly tx: StoreTransaction;
  /** Its state then. */
  readonly before: Snapshot;
  /** As it was when the call came. */
  readonly row: InstanceRow;
  readonly now: number;
  readonly turn: Turn;
  readonly machine: Machine;
  readonly writes: StepWrites;
  readonly admit: Admission;
}

/**
 * Throws `not-found`, `sequence-conflict`, `stale-fence`, `idempotency-key-reuse`, `instance-busy` when others of this process
 * were in the way for too long, and what `work` throws.
 */
export async function inTurn<T extends { replayed: boolean }>(
  context: RuntimeContext,
  call: TurnCall<T>,
): Promise<T> {
  requireOpen(context);
  let rejected: RejectedWrite[] = [];
  try {
    const { instanceId } = call.args;
    const { answer, after } = await context.turnstile.pass(
      instanceId,
      () => instanceBusy(instanceId),
      () =>
        withMachines(context.machines, () =>
          context.store.transaction((tx) => {
            rejected = [];
            return run(context, tx, call, rejected);
          }),
        ),
    );
    if (after) {
      context.sends.noteBatch({ ...after, outcomes: new Map(), rejected, stepped: after.stepped });
      context.wake();
      if (after.leftChildren) context.settle();
    }
    return answer;
  } finally {
    await logRejectedWrites(context.store, rejected);
  }
}

/** Within which an idempotency key names one call. */
export const callScope = (
  verb: string,
  row: Pick<InstanceRow, "id" | "incarnation">,
  actor: string,
): string => `${verb}:${row.id}:${row.incarnation}:${actor}`;

async function run<T extends { replayed: boolean }>(
  context: RuntimeContext,
  tx: StoreTransaction,
  { verb, actor, args, version, work }: TurnCall<T>,
  rejected: RejectedWrite[],
) {
  const { instanceId, idempotencyKey } = args;
  const [rows, { now, messages: mailbox }] = await Promise.all([
    tx.lockInstances([instanceId]),
    tx.readWaiting([instanceId], messagesPerTurnMax),
  ]);
  const row = rows[0];
  if (!row || row.deletedAt !== null) throw instanceNotFound(instanceId);

  const scope = callScope(verb, row, actor.id);
  const digest = digestOf({ ...args, idempotencyKey: undefined });
  if (idempotencyKey !== undefined) {
    const key = requireText(idempotencyKey, "Idempotency-Key");
    const stored = await tx.claimAnswer({ scope, key, digest, messageId: null, result: null, at: now });
    const kept = keptAnswer<T>(stored, digest);
    if (kept) return { answer: { ...kept, replayed: true }, after: null };
  }

  const fences = args.fences && args.fences.length > 0 ? JSON.stringify(args.fences) : null;
  const asked = { fences, expectedSeq: args.expectedSeq ?? null, incarnation: row.incarnation };
  const keys = [asked, ...mailbox].flatMap((message) => fencesOf(message).map((fence) => fence.key));
  const machine = context.machines.get({ chartId: row.chartId, version: version ?? row.version });
  const distributed = isDistributed(machine) ? [instanceId] : [];
  const lockRows = await holdLocksOf(tx, [row], keys, distributed);
  const refusal = admissionBy(lockRows, now, rejected)({ ...asked, actor: actor.id, type: verb }, row);
  if (refusal) throw refusal;

  const writes = noWrites();
  const admit = admissionBy(lockRows, now, rejected, new Set(distributed));
  const more = mailbox.length === messagesPerTurnMax;
  const before = parseSnapshot(row.snapshot);
  const turn = new Turn(machine, row, before, now, writes, mailbox, more);
  const answerOf = await work({ tx, row, before, now, turn, machine, writes, admit });
  const began = performance.now();
  if (row.semantics === engineSemantics) turn.run(admit, () => performance.now() - began > turnBudgetMs);
  turn.finish();
  await answerParents(tx, endingsOf([turn]), writes, now);
  await releaseStateLocks(tx, locksLeftBy([turn]), now);
  await postOutgoing(tx, [turn], writes);
  settleAnswers([turn], [], mailbox, now, writes, new Map());
  const answer = answerOf();
  if (idempotencyKey !== undefined) {
    writes.answered.push({ scope, key: idempotencyKey, result: JSON.stringify(answer), at: now });
  }
  await tx.writeSteps(writes);
  const settled = new Map([...turn.verdicts].filter(([, { kind }]) => kind !== "queued"));
  const leftWork = writes.enqueued.length > 0;
  const leftChildren = leavesChildren([turn], writes);
  return {
    answer,
    after: {
      settled,
      served: turn.goesOn ? [instanceId] : [],
      leftWork,
      leftChildren,
      stepped: writes.log.length,
      written: [{ row: turn.row, snapshot: turn.snapshot }],
      now,
    },
  };
}
