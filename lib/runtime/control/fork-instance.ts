/**
 * A new instance that begins where another one was at a seq, with the same data: to try what would have happened, or to go on
 * from before a mistake.
 *
 * Holds: I5 its first entry keeps the state it begins with. I4 with an idempotency key it is made once. No task is sent again
 *        and no lock taken; what the other did later is repeated only as external events, and only when asked for.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import {
  rankPerTierMs,
  type InstanceRow,
  type LogInput,
  type LogLine,
  type MessageRow,
} from "@/lib/store/instances";
import { instanceExists, noWrites } from "@/lib/store/steps";
import type { ControlInput } from "./apply-control";
import type { Idempotent } from "../call";
import { forkState } from "./fork-state";
import { waitsBegun } from "../instances/conditions";
import { findLiveInstance } from "../instances/get-instance";
import { viewInstance, type Fence, type InstanceView } from "../instances/instance-views";
import { withMachines } from "../charts/machines";
import { digestOf, keptAnswer } from "../kept-answer";
import { engineSemantics } from "../limits";
import { fencedTransaction } from "../locks/fenced";
import { newAuditId, newInstanceId, newMessageId, partitionOf } from "../new-id";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { callScope } from "../stepping/in-turn";
import { postOutgoing } from "../stepping/step-batch";
import { Turn } from "../stepping/turn";

export interface ForkInstanceArgs extends Idempotent {
  instanceId: string;
  /** Default: the newest. */
  seq?: number | undefined;
  /** Of the new instance. */
  id?: string | undefined;
  /** Arm the timers of that moment again, with the time they had left; default: none is. */
  rearmTimers?: boolean | undefined;
  /** Send it the external events that the other took later; default: none. */
  laterEvents?: boolean | undefined;
  /** Locks that the caller must still hold. */
  fences?: Fence[] | undefined;
  reason: string;
}

/** More would not be an experiment but a second history. */
const laterEventsMax = 1_000;

/** Throws `not-found`, `instance-exists`, `stale-fence`, `bad-request` (ended or failed at that seq; too many later events). */
export async function forkInstance(
  context: RuntimeContext,
  actor: Actor,
  args: ForkInstanceArgs,
): Promise<InstanceView> {
  requirePermission(actor, "instances:control");
  requirePermission(actor, "instances:start");
  requireOpen(context);
  requireText(args.reason, "reason");
  const source = await findLiveInstance(context.store, args.instanceId);
  const from = await forkState(context, source.id, args.seq ?? source.seq);
  const later = args.laterEvents ? await eventsAfter(context, source.id, from.entry, source.seq) : [];
  await context.machines.load(from.entry);
  const { idempotencyKey, ...rest } = args;
  const scope = callScope("fork", source, actor.id);
  const digest = digestOf(rest);

  const view = await withMachines(context.machines, () =>
    fencedTransaction(context.store, actor, async (tx, check) => {
      if (idempotencyKey !== undefined) {
        const claim = {
          scope,
          key: idempotencyKey,
          digest,
          messageId: null,
          result: null,
          at: await tx.now(),
        };
        const kept = keptAnswer<InstanceView>(await tx.claimAnswer(claim), digest);
        if (kept) return kept;
      }
      const id = args.id === undefined ? newInstanceId(from.entry.chartId) : requireText(args.id, "id");
      const [before] = await tx.lockInstances([id]);
      if (before && before.deletedAt === null) throw instanceExists(id);
      await check(tx, args.fences, { instanceId: id, type: "fork" });
      const now = await tx.now();
      const row = rowLike({ ...source, chartId: from.entry.chartId }, id, now, before);
      const writes = noWrites();
      const turn = new Turn(context.machines.get(from.entry), row, null, now, writes, [], false);
      const begun = from.snapshot(args.rearmTimers ?? false, row.at);
      const input: ControlInput = {
        kind: "control",
        verb: "fork",
        data: { reason: args.reason, instanceId: source.id, seq: from.entry.seq },
        snapshot: { ...begun, session: { ...begun.session, id } },
      };
      turn.place({ input, actor: actor.id, kind: "control", version: from.entry.version });
      for (const event of later) turn.add(repeated(event, turn.row, actor, now, source.id));
      turn.run(
        () => null,
        () => false,
      );
      turn.finish();
      await postOutgoing(tx, [turn], writes);
      const made = viewInstance(turn.row, [], writes.enqueued.length, waitsBegun(turn.row, writes));
      if (idempotencyKey !== undefined) {
        writes.answered.push({ scope, key: idempotencyKey, result: JSON.stringify(made), at: now });
      }
      await tx.writeSteps(writes);
      await tx.writeAudit({
        id: newAuditId(),
        at: now,
        actor: actor.id,
        action: "fork-instance",
        target: `instance:${source.id}`,
        outcome: "done",
        details: JSON.stringify({ seq: from.entry.seq, into: id, reason: args.reason }),
      });
      return made;
    }),
  );
  if (view.pending > 0) context.wake();
  return view;
}

/** A row before its first entry. `tombstone`: of the id's earlier life. */
function rowLike(
  source: InstanceRow,
  id: string,
  now: number,
  tombstone: InstanceRow | undefined,
): InstanceRow {
  const at = Math.max(now, tombstone?.at ?? 0);
  const seq = tombstone?.seq ?? 0;
  return {
    ...source,
    id,
    incarnation: tombstone?.incarnation ?? 1,
    status: "running",
    semantics: engineSemantics,
    seq,
    at,
    rank: at - source.priority * rankPerTierMs,
    // The other has them.
    businessKey: null,
    concurrencyKey: null,
    parent: null,
    partition: partitionOf(id),
    configuration: "[]",
    snapshot: "",
    stateHash: "",
    snapshotSeq: seq,
    logBytes: 0,
    lastEvent: null,
    errorCode: null,
    errorMessage: null,
    createdAt: at,
    updatedAt: at,
    endedAt: null,
    deletedAt: null,
    session: null,
  };
}

/** Those that somebody outside sent: what the instance, its timers and tasks did comes by itself, or doesn't. */
async function eventsAfter(
  { store }: RuntimeContext,
  instanceId: string,
  { seq: after, incarnation }: Pick<LogInput, "seq" | "incarnation">,
  upTo: number,
): Promise<LogInput[]> {
  if (upTo - after > laterEventsMax) {
    throw new LockstepError(
      "bad-request",
      `${upTo - after} entries follow seq ${after}; at most ${laterEventsMax} are repeated. Fork from a later seq.`,
      { details: { field: "laterEvents", entriesMax: laterEventsMax } },
    );
  }
  const lines = new Map<number, LogLine>();
  for (let before: number | null = upTo + 1; before !== null && before > after + 1;) {
    const page: LogLine[] = await store.listLog(instanceId, before, 200);
    for (const line of page) lines.set(line.seq, line);
    before = page.at(-1)?.seq ?? null;
  }
  const inputs = await store.logInputs(instanceId, after, upTo, laterEventsMax);
  return inputs.filter(({ seq, kind, input, ...entry }) => {
    const isEvent = kind === "event" || kind === "step-failed";
    return (
      isEvent &&
      // What came after its deletion was another life's.
      entry.incarnation === incarnation &&
      (JSON.parse(input) as { kind: string }).kind === "event" &&
      !lines.get(seq)?.actor.startsWith("instance:")
    );
  });
}

const repeated = (
  event: LogInput,
  { id, incarnation }: { id: string; incarnation: number },
  actor: Actor,
  now: number,
  sourceId: string,
): MessageRow => ({
  instanceId: id,
  incarnation,
  messageId: newMessageId(),
  type: event.type,
  input: event.input,
  actor: actor.id,
  cause: `${sourceId}@${event.seq}`,
  enqueuedAt: now,
  dedupeScope: null,
  dedupeKey: null,
  expectedSeq: null,
  fences: null,
});
