/**
 * A send that is alone, on PostgreSQL: no transaction is held open, the step is one read and one write; of an instance that
 * this process wrote last, the write alone.
 *
 * Holds: what it does is what step-batch.ts would do, by the same Turn; it does so only when nothing but the instance's own
 *        state and log changes and nobody came between. In any other case it has changed nothing and gives null.
 */
import type { AloneSteps } from "@/lib/store/steps";
import type { Snapshot } from "@/lib/statechart/snapshot";
import { noWrites, type StepWrites } from "@/lib/store/steps";
import { parseSnapshot } from "../instances/instance-views";
import { engineSemantics } from "../limits";
import type { Machines } from "../charts/machines";
import { isDistributed } from "../locks/sender-lock";
import { admissionBy, type Send } from "./step-batch";
import type { RecentRow, RecentRows } from "./recent-rows";
import { Turn, type Verdict } from "./turn";

/** A step's time and its commit lie as far apart in a batch. */
const lagMaxMs = 100;

export async function stepAlone(
  machines: Machines,
  alone: AloneSteps,
  recents: RecentRows,
  send: Send,
): Promise<Verdict | null> {
  const { message } = send;
  if (message.dedupeKey !== null || message.fences !== null || send.session !== undefined) return null;
  const recent = recents.find(message.instanceId);
  if (recent) {
    const done = await stepFrom(machines, alone, recents, message, recent);
    if (done !== "overtaken") return done;
  }
  const found = await alone.find(message.instanceId);
  if (!found || found.waiting) return null;
  const read = { row: found.row, snapshot: parseSnapshot(found.row.snapshot), now: found.now };
  const done = await stepFrom(machines, alone, recents, message, read);
  return done === "overtaken" ? null : done;
}

/** Null: such a step is not for the short way. */
async function stepFrom(
  machines: Machines,
  alone: AloneSteps,
  recents: RecentRows,
  message: Send["message"],
  { row: before, snapshot, now }: RecentRow & { now: number },
): Promise<Verdict | null | "overtaken"> {
  if (before.status !== "running" || before.deletedAt !== null || before.session !== null) return null;
  if (before.semantics !== engineSemantics) return null;

  const machine = machines.get(before);
  if (isDistributed(machine)) return null;

  const writes = noWrites();
  const turn = new Turn(machine, before, snapshot, now, writes, [], false);
  turn.add({ ...message, incarnation: before.incarnation, enqueuedAt: now, dedupeScope: null });
  turn.run(admissionBy(new Map(), now, []), () => true);
  turn.finish();
  const verdict = turn.verdicts.get(message.messageId);
  const [log, more] = writes.log;
  if (verdict?.kind !== "applied" || !log || more || turn.outgoing.length > 0 || !isPlain(writes, snapshot))
    return null;
  if (turn.ending || turn.locksLeft === null || turn.locksLeft.size > 0) return null;
  const moved = writes.configurations[0] ?? null;
  // Until it is known to be written; when no answer comes it may be or not.
  recents.forget(before.id);
  const written = await alone.write({ before, row: turn.row, log, moved, lagMaxMs });
  if (written === null) {
    recents.distrustClock();
    return "overtaken";
  }
  recents.remember({ row: turn.row, snapshot: turn.snapshot }, written);
  return verdict;
}

/** Nothing is written but the row, its entry and its active states; one that ends leaves nothing armed or running behind. */
function isPlain(writes: StepWrites, { timers, invocations }: Snapshot): boolean {
  const plain = new Set(["log", "stepped", "restated", "configurations"]);
  if (Object.keys(timers).length + Object.keys(invocations).length === 0) plain.add("ended");
  return Object.entries(writes).every(([name, rows]) => (rows as unknown[]).length === 0 || plain.has(name));
}
