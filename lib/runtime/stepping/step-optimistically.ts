/**
 * Sends that read nothing: instances that this process wrote last are stepped from what it remembers, and all of a group are
 * written at once, those left out that were overtaken. A sender who is alone on PostgreSQL reads what is not remembered.
 *
 * Holds: what is done is what step-batch.ts would do, by the same Turn; it is done only when nothing but the instance's own
 *        state and log changes and nobody came between. A send that is not among what is given back has changed nothing.
 */
import type { Snapshot } from "@/lib/statechart/snapshot";
import { noWrites, type OptimisticStep, type OptimisticSteps, type StepWrites } from "@/lib/store/steps";
import { parseSnapshot } from "../instances/instance-views";
import { batchBudgetMs, engineSemantics, stepLagMaxMs } from "../limits";
import type { Machines } from "../charts/machines";
import { isDistributed } from "../locks/sender-lock";
import { admissionBy, joined, type Send } from "./step-batch";
import type { RecentRow, RecentRows } from "./recent-rows";
import { Turn, type Verdict } from "./turn";

/** One send, computed and not yet written. */
interface Plan {
  step: OptimisticStep;
  snapshot: Snapshot;
  messageId: string;
  verdict: Verdict;
}

/** What became of the sends that were stepped, by message id. */
export async function stepOptimistically(
  machines: Machines,
  optimistic: OptimisticSteps,
  recents: RecentRows,
  sends: readonly Send[],
): Promise<ReadonlyMap<string, Verdict>> {
  const plans: Plan[] = [];
  let scratch = noWrites();
  const began = performance.now();
  for (const send of loneOnes(sends)) {
    if (performance.now() - began > batchBudgetMs) break;
    const recent = recents.find(send.message.instanceId);
    if (!recent) continue;
    const plan = planOf(machines, send, recent, scratch);
    if (plan) plans.push(plan);
    if (plan && scratch.ended.length === 0) for (const name of plain) scratch[name].length = 0;
    else scratch = noWrites();
  }
  const done = await write(optimistic, recents, plans);
  const [send, more] = sends;
  if (done.size > 0 || !send || more || !isSimple(send) || !optimistic.find) return done;
  const found = await optimistic.find(send.message.instanceId);
  if (!found || found.waiting) return done;
  const { row, now } = found;
  const plan = planOf(machines, send, { row, snapshot: parseSnapshot(row.snapshot), now }, noWrites());
  return plan ? write(optimistic, recents, [plan]) : done;
}

/** Simple ones whose instance no other of them is for: their order is the caller's. */
function loneOnes(sends: readonly Send[]): Send[] {
  const counts = new Map<string, number>();
  for (const { message } of sends) counts.set(message.instanceId, (counts.get(message.instanceId) ?? 0) + 1);
  return sends.filter((send) => isSimple(send) && counts.get(send.message.instanceId) === 1);
}

const isSimple = ({ message, session }: Send): boolean =>
  message.dedupeKey === null && message.fences === null && session === undefined;

/** Null: such a step is not for the short way. */
function planOf(
  machines: Machines,
  { message }: Send,
  { row: before, snapshot, now }: RecentRow & { now: number },
  writes: StepWrites,
): Plan | null {
  if (before.status !== "running" || before.deletedAt !== null || before.session !== null) return null;
  if (before.semantics !== engineSemantics) return null;

  const machine = machines.get(before);
  if (isDistributed(machine)) return null;

  const turn = new Turn(machine, before, snapshot, now, writes, [], false);
  turn.add(joined(message, before, now));
  turn.run(admissionBy(new Map(), now, []), () => true);
  turn.finish();
  const verdict = turn.verdicts.get(message.messageId);
  const [log, more] = writes.log;
  if (verdict?.kind !== "applied" || !log || more || turn.outgoing.length > 0 || !isPlain(writes, snapshot))
    return null;
  if (turn.ending || turn.locksLeft === null || turn.locksLeft.size > 0) return null;
  const moved = writes.configurations[0] ?? null;
  return {
    step: { row: turn.row, log, moved, restated: writes.restated.length > 0 },
    snapshot: turn.snapshot,
    messageId: message.messageId,
    verdict,
  };
}

async function write(
  optimistic: OptimisticSteps,
  recents: RecentRows,
  plans: readonly Plan[],
): Promise<ReadonlyMap<string, Verdict>> {
  const done = new Map<string, Verdict>();
  if (plans.length === 0) return done;
  // Until it is known to be written; when no answer comes it may be or not.
  for (const { step } of plans) recents.forget(step.row.id);
  const end = await optimistic.write(
    plans.map(({ step }) => step),
    stepLagMaxMs,
  );
  if (end.written.length === 0) recents.distrustClock();
  const written = new Set(end.written);
  for (const { step, snapshot, messageId, verdict } of plans) {
    if (!written.has(step.row.id)) continue;
    recents.remember({ row: step.row, snapshot }, end.now);
    done.set(messageId, verdict);
  }
  return done;
}

/** Nothing is written but the row, its entry and its active states; one that ends leaves nothing armed or running behind. */
function isPlain(writes: StepWrites, { timers, invocations }: Snapshot): boolean {
  if (others.some((name) => writes[name].length > 0)) return false;
  return writes.ended.length === 0 || Object.keys(timers).length + Object.keys(invocations).length === 0;
}
const plain = ["log", "stepped", "restated", "configurations"] as const;
const others = (Object.keys(noWrites()) as (keyof StepWrites)[]).filter(
  (name) => name !== "ended" && !(plain as readonly string[]).includes(name),
);
