/**
 * One durable batch: lock instances, read what waits for them, step each one's turn, write all that it caused. The seam of
 * group commit: senders and workers hand in any number of instances; the statements are the same number.
 *
 * Holds: I1 the row lock makes this transaction the only one that steps the instance; the mailbox is read after it.
 *        I2 everything a step caused is written by the one writeSteps.
 *        I3 fences are read FOR SHARE after the instance rows and held to commit: a force-release waits for us, and every
 *           step after it is refused.
 * Does not: commit (its caller's transaction does) or wait.
 */
import { LockstepError } from "@/lib/base/errors";
import { must } from "@/lib/base/assert";
import type { ChildKey, ChildRow } from "@/lib/store/children";
import type { DedupeRow, InstanceRow, MessageRow, QueuedMessage } from "@/lib/store/instances";
import type { LockRow } from "@/lib/store/locks";
import { noWrites, type StepWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import { answerParents, type Ending } from "../tasks/answer-parents";
import { isEnded, parentOf, parseSnapshot, type Fence, type SendResult } from "../instances/instance-views";
import { batchBudgetMs, engineSemantics, messagesPerTurnMax, turnBudgetMs } from "../limits";
import type { Machines } from "../charts/machines";
import { sessionRefusal } from "./instance-session";
import { internalMessage, type Outgoing } from "./internal-message";
import { isHeldAt } from "../locks/lock-views";
import { instanceNotFound, keyReuse, sequenceConflict, staleFence } from "../refusals";
import { holdLocks, isDistributed, senderLockOf, senderRefusal } from "../locks/sender-lock";
import { releaseStateLocks } from "../locks/state-locks";
import { taskIdOf } from "../tasks/task-rules";
import type { RecentRow, RecentRows } from "./recent-rows";
import { sentTogether } from "./together";
import { Turn, type Admission, type Verdict } from "./turn";

/** A call's message on its way in. */
export interface Send {
  message: Omit<MessageRow, "incarnation" | "enqueuedAt" | "dedupeScope">;
  /** Of the arguments; with an idempotency key only. */
  digest: string | null;
  /** Token of the instance session it belongs to. */
  session?: string | undefined;
  /** Its caller waits in the mailbox while the instance is in another's session. */
  waits: boolean;
}
export type SendOutcome =
  | Verdict
  /** The stored answer of an earlier call with the same key; null while its message still waits. */
  | { kind: "replayed"; answer: StoredAnswer | null; messageId: string }
  /** Another transaction has the instance: try again. */
  | { kind: "busy" };
export interface StoredAnswer {
  result: SendResult;
  failure: { code: string; message: string } | null;
}
export interface RejectedWrite {
  fence: Fence;
  instanceId: string;
  actor: string;
  type: string;
}
export interface BatchResult {
  /** By message id, one for each send whose instance had its turn. */
  outcomes: Map<string, SendOutcome>;
  /** Messages that had waited in a mailbox and were applied or refused, by id. */
  settled: Map<string, Verdict>;
  /** The instances that had their turn and go on with the next. */
  served: string[];
  /** To be logged on their locks, in a transaction of their own. */
  rejected: RejectedWrite[];
  /** Something was put into a mailbox and waits for a worker. */
  leftWork: boolean;
  /** Children may be to begin or to end. */
  leftChildren: boolean;
  stepped: number;
  /** Instances as they were written, and the time of their steps. */
  written: RecentRow[];
  now: number;
}

/** Steps `instanceIds` and the instances that `sends` name, each by at most `stepsMax`. */
export async function stepBatch(
  machines: Machines,
  tx: StoreTransaction,
  sends: readonly Send[],
  instanceIds: readonly string[],
  { stepsMax = messagesPerTurnMax, recents }: { stepsMax?: number; recents?: RecentRows } = {},
): Promise<BatchResult> {
  const outcomes = new Map<string, SendOutcome>();
  const wanted = [...new Set([...instanceIds, ...sends.map((send) => send.message.instanceId)])].sort();
  // Sent together, run in this order: what follows the lock sees what was committed before it was granted.
  const [rows, { now, messages: queued }] = await Promise.all([
    tx.lockKnown(wanted, recents?.rowsOf(wanted) ?? nothing),
    tx.readWaiting(wanted, messagesPerTurnMax),
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  await sortOutAbsent(tx, sends, byId, outcomes);
  const mailboxes = groupBy(
    queued.filter((message) => byId.has(message.instanceId)),
    ({ instanceId }) => instanceId,
  );
  const fresh = await admitSends(tx, sends, byId, now, outcomes);
  const incoming = fresh.filter(refuseOutsiders(sends, byId, now, outcomes));
  const waiting = [...incoming.map(({ message }) => message), ...[...mailboxes.values()].flat()];
  const fenceKeys = waiting.flatMap((message) => fencesOf(message).map((fence) => fence.key));
  const distributed = rows.filter((row) => isDistributed(machines.get(row))).map(({ id }) => id);
  const lockRows = await holdLocksOf(tx, rows, fenceKeys, distributed);

  const writes = noWrites();
  const rejected: RejectedWrite[] = [];
  const admit = admissionBy(lockRows, now, rejected, new Set(distributed));
  const turns: Turn[] = [];
  const incomingOf = groupBy(incoming, ({ message }) => message.instanceId);
  const batchBegan = performance.now();
  // In the order of asking, not of ids: who was not reached is asked for first the next time.
  for (const id of new Set([...sends.map(({ message }) => message.instanceId), ...instanceIds])) {
    const row = byId.get(id);
    if (!row) continue;
    if (turns.length > 0 && performance.now() - batchBegan > batchBudgetMs) break;
    const mailbox = mailboxes.get(row.id) ?? [];
    const more = mailbox.length === messagesPerTurnMax;
    const machine = machines.get(row);
    const snapshot = recents?.snapshotOf(row) ?? parseSnapshot(row.snapshot);
    const turn = new Turn(machine, row, snapshot, now, writes, mailbox, more);
    for (const { message, own } of incomingOf.get(row.id) ?? []) turn.add(message, own);
    const began = performance.now();
    if (row.semantics === engineSemantics)
      turn.run(admit, () => performance.now() - began > turnBudgetMs, stepsMax);
    turn.finish();
    turns.push(turn);
  }

  await answerParents(tx, endingsOf(turns), writes, now);
  await releaseStateLocks(tx, locksLeftBy(turns), now);
  await postOutgoing(tx, turns, writes);
  settleAnswers(turns, incoming, [...mailboxes.values()].flat(), now, writes, outcomes);
  await tx.writeSteps(writes);
  const settled = turns
    .flatMap((turn) => [...turn.verdicts])
    .filter(([id, { kind }]) => kind !== "queued" && !outcomes.has(id));
  return {
    outcomes,
    settled: new Map(settled),
    served: turns.filter((turn) => turn.goesOn).map((turn) => turn.row.id),
    rejected,
    leftWork: writes.enqueued.length > 0,
    leftChildren: leavesChildren(turns, writes),
    stepped: writes.log.length,
    written: turns.map(({ row, snapshot }) => ({ row, snapshot })),
    now,
  };
}
const nothing: ReadonlyMap<string, InstanceRow> = new Map();

/** The tasks that steps of these instances may end: their own, and those that they are the children of. */
export async function holdTasks(tx: StoreTransaction, rows: readonly InstanceRow[]): Promise<void> {
  await tx.holdTasksOf(rows.map(({ id }) => id));
  const parents = rows.flatMap((row) => parentOf(row) ?? []);
  if (parents.length > 0) await tx.lockTasks(parents);
}

/**
 * The locks that steps of these instances look at, and beside them those that the steps may give up: in one pass, for lock rows
 * are taken in the order of keys, and behind tasks, which the steps may end. None when they look at none.
 */
export async function holdLocksOf(
  tx: StoreTransaction,
  rows: readonly InstanceRow[],
  fenceKeys: readonly string[],
  distributed: readonly string[],
): Promise<Map<string, LockRow>> {
  if (fenceKeys.length + distributed.length === 0) return new Map();
  await holdTasks(tx, rows);
  const held = await tx.stateLocksOf(rows.map(({ id }) => id));
  return holdLocks(tx, fenceKeys, [...distributed.map(senderLockOf), ...held.map(({ key }) => key)]);
}

export const endingsOf = (turns: readonly Turn[]): Ending[] => turns.flatMap(({ ending }) => ending ?? []);

/** What states of these instances hold no more. */
export const locksLeftBy = (turns: readonly Turn[]): Map<string, ReadonlySet<string> | null> =>
  new Map(
    turns.flatMap(({ row, locksLeft }) =>
      locksLeft === null || locksLeft.size > 0 ? [[row.id, locksLeft] as const] : [],
    ),
  );

/** Worth a look of workers/settle-children. */
export const leavesChildren = (turns: readonly Turn[], writes: StepWrites): boolean =>
  writes.childrenLeft.length > 0 ||
  writes.keysLeft.length > 0 ||
  writes.tasksBegun.some(({ dueAt }) => dueAt !== null) ||
  locksLeftBy(turns).size > 0 ||
  turns.some(({ ending }) => ending !== null);

/** A row that was not returned is held by another transaction, or isn't there. */
async function sortOutAbsent(
  tx: StoreTransaction,
  sends: readonly Send[],
  byId: ReadonlyMap<string, InstanceRow>,
  outcomes: Map<string, SendOutcome>,
): Promise<void> {
  const absent = [...new Set(sends.map((send) => send.message.instanceId).filter((id) => !byId.has(id)))];
  const held = new Set((await tx.incarnationsOf(absent)).map((row) => row.id));
  for (const { message } of sends) {
    const { instanceId } = message;
    const row = byId.get(instanceId);
    if (row ? row.deletedAt !== null : !held.has(instanceId)) {
      outcomes.set(message.messageId, { kind: "refused", error: instanceNotFound(instanceId) });
    } else if (!row) outcomes.set(message.messageId, { kind: "busy" });
  }
}

interface Incoming {
  message: MessageRow;
  digest: string | null;
  /** Of the session that is open. */
  own: boolean;
}

/** A send as it joins the mailbox. Every event passes here: a literal costs less than spreading one. */
export const joined = (message: Send["message"], row: InstanceRow, now: number): MessageRow => ({
  instanceId: message.instanceId,
  incarnation: row.incarnation,
  messageId: message.messageId,
  type: message.type,
  input: message.input,
  actor: message.actor,
  cause: message.cause,
  enqueuedAt: now,
  dedupeScope: message.dedupeKey === null ? null : sendScope(row, message.actor),
  dedupeKey: message.dedupeKey,
  expectedSeq: message.expectedSeq,
  fences: message.fences,
});

/** The sends that are new: repeats get their answer. */
async function admitSends(
  tx: StoreTransaction,
  sends: readonly Send[],
  byId: ReadonlyMap<string, InstanceRow>,
  now: number,
  outcomes: Map<string, SendOutcome>,
): Promise<Incoming[]> {
  const candidates = sends
    .filter((send) => !outcomes.has(send.message.messageId))
    .map(({ message, digest, session }): Incoming => {
      const row = must(byId.get(message.instanceId), "a send's instance is locked or sorted out");
      return {
        digest,
        own: session !== undefined,
        message: joined(message, row, now),
      };
    });
  const keyed = candidates.filter(({ message }) => message.dedupeScope !== null);
  if (keyed.length === 0) return candidates;
  const keys = keyed.map(({ message }) => ({
    scope: message.dedupeScope ?? "",
    key: message.dedupeKey ?? "",
  }));
  const answers = new Map((await tx.findAnswers(keys)).map((row) => [answerName(row.scope, row.key), row]));
  const inThisBatch = new Set<string>();
  return candidates.filter(({ message, digest }) => {
    if (message.dedupeScope === null || message.dedupeKey === null) return true;
    const name = answerName(message.dedupeScope, message.dedupeKey);
    const answer = answers.get(name);
    if (answer) outcomes.set(message.messageId, replayOf(answer, digest));
    // Its twin goes first; the next batch finds the answer.
    else if (inThisBatch.has(name)) outcomes.set(message.messageId, { kind: "busy" });
    else {
      inThisBatch.add(name);
      return true;
    }
    return false;
  });
}

/** Whom an instance session keeps out. */
function refuseOutsiders(
  sends: readonly Send[],
  byId: ReadonlyMap<string, InstanceRow>,
  now: number,
  outcomes: Map<string, SendOutcome>,
): (incoming: Incoming) => boolean {
  const bySend = new Map(sends.map((send) => [send.message.messageId, send]));
  return ({ message }) => {
    const row = must(byId.get(message.instanceId), "a send's instance is locked or sorted out");
    const send = must(bySend.get(message.messageId), "what comes in was sent");
    const error = sessionRefusal(row, now, { token: send.session, waits: send.waits });
    if (error) outcomes.set(message.messageId, { kind: "refused", error });
    return error === null;
  };
}

/** What an idempotency key of a send is unique in. */
export const sendScope = (row: Pick<InstanceRow, "id" | "incarnation">, actor: string): string =>
  `send:${row.id}:${row.incarnation}:${actor}`;

export function replayOf(row: DedupeRow, digest: string | null): SendOutcome {
  if (row.digest !== digest) return { kind: "refused", error: keyReuse(row.key) };
  const answer = row.result === null ? null : (JSON.parse(row.result) as StoredAnswer);
  return { kind: "replayed", answer, messageId: row.messageId ?? "" };
}

export function admissionBy(
  lockRows: ReadonlyMap<string, LockRow>,
  now: number,
  rejected: RejectedWrite[],
  /** Instances whose senders must hold their lock. */
  distributed: ReadonlySet<string> = nobody,
): Admission {
  return (message, row) => {
    if (message.incarnation !== row.incarnation) {
      return new LockstepError(
        "instance-ended",
        `The message was for an earlier life of instance ${row.id}.`,
      );
    }
    if (message.expectedSeq !== null && message.expectedSeq !== row.seq)
      return sequenceConflict(message, row);
    const fences = fencesOf(message);
    for (const fence of fences) {
      const lock = lockRows.get(fence.key);
      const wrong = staleness(fence, lock, now);
      if (wrong === null) continue;
      rejected.push({ fence, instanceId: row.id, actor: message.actor, type: message.type });
      return staleFence(fence, lock, wrong);
    }
    if (!distributed.has(row.id)) return null;
    const keys = fences.map(({ key }) => key);
    return senderRefusal(message, keys, row, lockRows.get(senderLockOf(row.id)), now);
  };
}
const nobody: ReadonlySet<string> = new Set();

/** Null when the fence is good. An expired lease that nobody has superseded is refused too. */
export function staleness(fence: Fence, lock: LockRow | undefined, now: number): string | null {
  if (!lock || lock.session === null) return "the lock is free";
  if (fence.fence > lock.fence) return `it was never given, the newest is ${lock.fence}`;
  if (lock.fence !== fence.fence) return `its fence is ${lock.fence} now`;
  if (lock.session !== fence.session) return "another session holds it";
  return isHeldAt(lock, now) ? null : "the lease has expired";
}

/** Addresses what instances sent to others. What can't be reached comes back as error.communication. */
export async function postOutgoing(
  tx: StoreTransaction,
  turns: readonly Turn[],
  writes: StepWrites,
): Promise<void> {
  const outgoing = turns.flatMap((turn) => turn.outgoing);
  if (outgoing.length === 0) return;
  const here = new Map(turns.map((turn) => [turn.row.id, turn]));
  const children = await tx.findChildren(
    outgoing.flatMap(({ from, to }) => childAddressed(to, here.get(from)) ?? []),
  );
  const addressed = outgoing.map((each) => ({ ...each, ...addressOf(each, here.get(each.from), children) }));
  const others = addressed.flatMap(({ id }) => (id === undefined || here.has(id) ? [] : [id]));
  const there = new Map((await tx.incarnationsOf([...new Set(others)])).map((row) => [row.id, row]));
  for (const { id, incarnation, from, to, event, at } of addressed) {
    const row = id === undefined ? undefined : (here.get(id)?.row ?? there.get(id));
    const isSame = incarnation === undefined || incarnation === row?.incarnation;
    if (row && isSame && row.deletedAt === null && !isEnded(row.status)) {
      writes.enqueued.push(internalMessage(from, row, event, at));
      continue;
    }
    const sender = here.get(from)?.row;
    if (!sender || isEnded(sender.status) || event.type === "error.communication") continue;
    const problem = {
      type: "error.communication",
      data: {
        code: "unreachable",
        message: `there is nobody at "${to}" to send "${event.type}" to`,
        to,
        type: event.type,
      },
      ...(event.sendid === undefined ? {} : { sendid: event.sendid }),
    };
    writes.enqueued.push(internalMessage(from, sender, problem, at));
  }
}

/** `#_INVOKEID`: where the sender's child is looked up; null: it is no such address. */
function childAddressed(to: string, sender: Turn | undefined): ChildKey | null {
  const invokeId = /^#_(?!scxml_|parent$)(.+)$/.exec(to)?.[1];
  const running = invokeId === undefined ? undefined : sender?.snapshot.invocations[invokeId];
  if (!sender || invokeId === undefined || running?.src !== "chart") return null;
  const { id: parentId, incarnation: parentIncarnation } = sender.row;
  return { parentId, parentIncarnation, parentTask: taskIdOf(running.generation, invokeId), place: 0 };
}

/** The instance at an address of SCXML's, as far as there may be one; what goes to a parent says from which invocation. */
function addressOf(
  { to, event }: Outgoing,
  sender: Turn | undefined,
  children: readonly ChildRow[],
): { id?: string | undefined; incarnation?: number; event: Outgoing["event"] } {
  const parent = to === "#_parent" && sender ? parentOf(sender.row) : null;
  if (parent) {
    const invokeid = parent.taskId.slice(parent.taskId.indexOf(":") + 1);
    return { id: parent.instanceId, incarnation: parent.incarnation, event: { ...event, invokeid } };
  }
  const child = childAddressed(to, sender);
  if (!child) return { id: /^(?:instance:|#_scxml_)(.+)$/.exec(to)?.[1], event };
  const { parentId, parentTask } = child;
  const row = children.find((each) => each.parentId === parentId && each.parentTask === parentTask);
  return { id: row?.childId, event };
}

/** Outcomes for the callers, and the answers kept for repeats. */
export function settleAnswers(
  turns: readonly Turn[],
  incoming: readonly Incoming[],
  queued: readonly QueuedMessage[],
  now: number,
  writes: StepWrites,
  outcomes: Map<string, SendOutcome>,
): void {
  const verdicts = new Map(turns.flatMap((turn) => [...turn.verdicts]));
  for (const { message, digest } of incoming) {
    const verdict = verdicts.get(message.messageId);
    // Its instance's turn was not reached.
    if (!verdict) continue;
    outcomes.set(message.messageId, verdict);
    if (message.dedupeScope === null || message.dedupeKey === null || verdict.kind === "refused") continue;
    writes.dedupe.push({
      scope: message.dedupeScope,
      key: message.dedupeKey,
      digest: digest ?? "",
      messageId: message.messageId,
      result: verdict.kind === "applied" ? answerText(verdict) : null,
      at: now,
    });
  }
  for (const message of queued) {
    const verdict = verdicts.get(message.messageId);
    if (message.dedupeScope === null || message.dedupeKey === null || verdict?.kind !== "applied") continue;
    const { dedupeScope: scope, dedupeKey: key } = message;
    writes.answered.push({ scope, key, result: answerText(verdict), at: now });
  }
}

const answerText = ({ result, failure, together }: Extract<Verdict, { kind: "applied" }>): string =>
  JSON.stringify(
    together ? sentTogether(result, together.length, together) : ({ result, failure } satisfies StoredAnswer),
  );

function groupBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(nameOf(item));
    if (group) group.push(item);
    else groups.set(nameOf(item), [item]);
  }
  return groups;
}

export const fencesOf = (message: Pick<MessageRow, "fences">): Fence[] =>
  message.fences === null ? [] : (JSON.parse(message.fences) as Fence[]);

const answerName = (scope: string, key: string): string => JSON.stringify([scope, key]);
