/**
 * What must hold of a database when a seed is over, whatever happened: the invariants of runtime/README.md against the
 * clients' history, by reading alone.
 *
 * Returns what is wrong, each with the invariant's number; an empty list is a good end.
 */
import { canonicalJson } from "@/lib/base/canonical";
import type { Json } from "@/lib/base/json";
import { applyControl, type ControlInput } from "@/lib/runtime/control/apply-control";
import { applyInput, applyStart, type StartInput } from "@/lib/runtime/stepping/apply-input";
import { hasNotBegun, isEnded, sessionCause, takesMessages } from "@/lib/runtime/instances/instance-views";
import { foldLockLog } from "@/lib/runtime/locks/lock-rules";
import { isHeldAt } from "@/lib/runtime/locks/lock-views";
import type { Machines } from "@/lib/runtime/charts/machines";
import { rebuildState } from "@/lib/runtime/instances/rebuild-state";
import { activeStates } from "@/lib/statechart/active-states";
import { indexedValues } from "@/lib/statechart/instance-keys";
import type { Machine } from "@/lib/statechart/machine";
import { snapshotHash, type Snapshot } from "@/lib/statechart/snapshot";
import type { StepInput, StepResult } from "@/lib/statechart/step";
import type { LockLogRow } from "@/lib/store/locks";
import type { Store } from "@/lib/store/store";
import {
  checkBatches,
  checkConcurrency,
  checkFamily,
  checkSaga,
  checkSessions,
  checkStateLocks,
  checkTaskKey,
  checkTogether,
  isUndoing,
} from "./check-families";
import type { History, SendSeen } from "./history";
import { all, markIn, markOf, readEnd, withDescendants, type Entry, type InstanceEnd } from "./instance-end";
import type { Committed, World } from "./world";

/** What an instance sent to another, in its own order. */
interface Sent {
  from: string;
  fromSeq: number;
  to: string;
  type: string;
  mark: string | null;
}

export async function checkEnd(
  store: Store,
  machines: Machines,
  history: History,
  {
    nowMs: now,
    committed,
    enqueuedFor,
    enqueuedBy,
  }: Pick<World, "nowMs" | "committed" | "enqueuedFor" | "enqueuedBy">,
): Promise<string[]> {
  const wrong: string[] = [];
  const ends = new Map<string, InstanceEnd>();
  for (const id of await withDescendants(store, history.instanceIds)) {
    const end = await readEnd(store, id);
    if (end) ends.set(id, end);
  }
  const sent: Sent[] = [];
  for (const end of ends.values()) {
    checkSeqs(end, wrong);
    for (const { messageId, incarnation, seq } of end.log) {
      if ((enqueuedFor.get(messageId ?? "") ?? incarnation) !== incarnation)
        wrong.push(`I3: ${end.row.id}#${seq} was for an earlier life`);
    }
    await replay(machines, end, sent, wrong);
    await checkSnapshots(store, machines, end, wrong);
    await checkTasks(store, end, wrong);
    await checkFields(store, machines, end, wrong);
    checkTimers(end, now, wrong);
  }
  for (const { row, queued } of ends.values()) {
    if (queued > 0 && row.deletedAt === null && takesMessages(row.status))
      wrong.push(`I8: ${row.id} is ${row.status} and has ${queued} messages left`);
  }
  checkSends(history, ends, enqueuedBy, wrong);
  checkBetween(history, ends, sent, committed, wrong);
  checkAnswers(history, ends, wrong);
  const lockLogs = await checkLocks(store, history, wrong);
  checkFences(history, ends, lockLogs, committed, wrong);
  checkStateLocks(ends, lockLogs, committed, wrong);
  checkSessions(history, ends, wrong);
  checkTogether(history, ends, wrong);
  await checkConcurrency(store, ends, wrong);
  await checkBatches(store, history, wrong);
  for (const end of ends.values()) {
    await checkFamily(store, end, wrong);
    await checkSaga(store, end, history, wrong);
  }
  for (const { what, instanceId, first, again, spanMs } of history.repeats) {
    if (first !== again && spanMs < answersKeptMs && !history.deleted.has(instanceId))
      wrong.push(`I4: ${what} was answered ${text(first)}, and ${text(again)} when repeated`);
  }
  for (const { id } of (await store.findRunnable(now, "")).found) {
    if (ends.has(id)) wrong.push(`I8: ${id} is left with work to do`);
  }
  return wrong;
}

/** Of every seed's policy: an answer is there for a repeat within it. */
const answersKeptMs = 3_600_000;

const text = (value: unknown): string => JSON.stringify(value);

function checkSeqs({ row, log }: InstanceEnd, wrong: string[]): void {
  log.forEach(({ seq }, index) => {
    if (seq !== index + 1) wrong.push(`I1: ${row.id} has seq ${seq} where ${index + 1} should be`);
  });
  if (row.seq !== log.length) wrong.push(`I2: ${row.id} is at ${row.seq}, its log at ${log.length}`);
  log.forEach(({ at, seq }, index) => {
    if (at < (log[index - 1]?.at ?? 0)) wrong.push(`I10: time goes back at ${row.id}#${seq}`);
  });
}

/** I5, I6: every entry again, by the engine alone. */
async function replay(machines: Machines, end: InstanceEnd, sent: Sent[], wrong: string[]): Promise<void> {
  const { row, log } = end;
  let state: Snapshot | null = null;
  for (const entry of log) {
    if (entry.kind === "deleted") {
      // One that waited for its concurrency key in that life has its state with it.
      state = (JSON.parse(entry.input) as { snapshot?: Snapshot }).snapshot ?? state;
      continue;
    }
    const machine = await machines.load(entry);
    const options = { at: entry.at, seq: entry.seq, trace: false };
    const input = JSON.parse(entry.input) as StartInput | StepInput | ControlInput;
    let result: StepResult;
    if (input.kind === "start") result = applyStart(machine, input, options);
    else if (input.kind === "control" && input.verb === "fork")
      result = applyControl(machine, input.snapshot, input, options).result;
    // It was cancelled while it waited for its concurrency key.
    else if (state === null && "snapshot" in input && input.snapshot)
      result = applyControl(machine, input.snapshot, input, options).result;
    else if (state === null) {
      wrong.push(`I1: ${row.id}#${entry.seq} comes before any start`);
      return;
    } else if (input.kind === "control") result = applyControl(machine, state, input, options).result;
    else {
      checkGeneration(machine, state, input, entry, wrong);
      result = applyInput(machine, state, input, options);
    }
    state = result.snapshot;
    if (snapshotHash(state) !== entry.stateHash) {
      wrong.push(`I5: ${row.id}#${entry.seq} (${entry.kind} ${entry.type}) replays to another state`);
      return;
    }
    for (const effect of result.effects) {
      if (effect.type !== "send") continue;
      const to = effect.to === null ? row.id : (/^(?:instance:|#_scxml_)(.+)$/.exec(effect.to)?.[1] ?? "");
      sent.push({
        from: row.id,
        fromSeq: entry.seq,
        to,
        type: effect.event.type,
        mark: markIn(effect.event.data),
      });
    }
  }
  // Its present life waits for a concurrency key: what its log comes to was another's.
  if (hasNotBegun(row)) return;
  if (state && row.deletedAt === null && snapshotHash(state) !== row.stateHash)
    wrong.push(`I2: ${row.id} stands in another state than its last entry left`);
  if (
    row.deletedAt === null &&
    row.snapshot !== "" &&
    state &&
    canonicalJson(state as unknown as Json) !== canonicalJson(JSON.parse(row.snapshot) as Json)
  )
    wrong.push(`I5: ${row.id}'s stored state is not what its log comes to`);
}

function checkGeneration(
  machine: Machine,
  state: Snapshot,
  input: StepInput,
  entry: Entry,
  wrong: string[],
): void {
  const where = `${entry.instanceId}#${entry.seq}`;
  if (input.kind === "timer") {
    const timer = state.timers[input.id];
    if (!timer) wrong.push(`I6: ${where} fired a timer that was not armed`);
    else {
      if (timer.dueAt > entry.at) wrong.push(`I6: ${where} fired a timer before its time`);
      if (timer.kind === "after" && !activeStates(machine, state.configuration).includes(timer.state ?? ""))
        wrong.push(`I6: ${where} fired a timer of ${timer.state ?? ""}, which had been left`);
    }
  }
  if (input.kind !== "answer") return;
  const moved = entry.outcome === "moved" || entry.outcome === "handled";
  if (moved && state.invocations[input.id]?.generation !== input.generation)
    wrong.push(`I6: ${where} was moved by an answer of generation ${input.generation}`);
  const asked = `${entry.instanceId}:${input.generation}:${input.id}`;
  // A redriven answer names the message that failed.
  if (entry.cause !== asked && entry.cause?.startsWith("m-") !== true)
    wrong.push(`I6: ${where} is the answer to ${entry.cause ?? ""} and was taken for ${asked}`);
}

/** I5 the product's own way: from stored snapshots. */
async function checkSnapshots(
  store: Store,
  machines: Machines,
  { row, log }: InstanceEnd,
  wrong: string[],
): Promise<void> {
  const last = log.findLast(({ kind }) => kind !== "deleted");
  for (const entry of [last, log[Math.floor(log.length / 2)]]) {
    if (!entry || entry.kind === "deleted") continue;
    const rebuilt = await rebuildState(store, machines, row.id, entry.seq);
    if (rebuilt?.rebuiltHash !== entry.stateHash) wrong.push(`I5: ${row.id} rebuilt at ${entry.seq} differs`);
  }
}

/** I2: it is found by what its context has in the fields that its chart declares. */
async function checkFields(
  store: Store,
  machines: Machines,
  { row }: InstanceEnd,
  wrong: string[],
): Promise<void> {
  const machine = await machines.load(row);
  if (row.deletedAt !== null || hasNotBegun(row) || machine.chart.settings?.index === undefined) return;
  const { context } = JSON.parse(row.snapshot) as Snapshot;
  const { chartId, id: idPrefix } = row;
  const fields = Object.entries(indexedValues(machine, context)).map(([field, value]) => ({
    chartId,
    field,
    value: String(value),
  }));
  const found = await store.listInstances({ chartId, idPrefix, fields }, null, all);
  if (!found.some(({ id }) => id === row.id))
    wrong.push(`I2: ${row.id} is not found by ${text(fields)}, which its context has`);
}

/** I2: what the state waits for is there, and nothing else is. */
async function checkTasks(
  store: Store,
  { row, log, queued, dead }: InstanceEnd,
  wrong: string[],
): Promise<void> {
  if (row.deletedAt !== null) return;
  const tasks = await store.listTasks(row.id, null, all);
  const open = new Set(
    tasks
      .filter(({ kind, status }) => kind !== "compensation" && (status === "pending" || status === "running"))
      .map(({ taskId }) => taskId),
  );
  for (const task of tasks) {
    const { taskId, kind, status, queue, concurrencyKey } = task;
    await checkTaskKey(store, task, wrong);
    const isClaimable = kind === "named" || kind === "http" || kind === "compensation";
    if (status === "pending" && isClaimable && queue === null && concurrencyKey === null)
      wrong.push(`I8: ${row.id}'s ${taskId} waits, and nobody can claim it`);
  }
  const state = JSON.parse(row.snapshot) as Snapshot;
  const ended = isEnded(row.status);
  for (const [id, { generation }] of Object.entries(state.invocations)) {
    const taskId = `${generation}:${id}`;
    if (ended || row.status === "failed" || open.delete(taskId)) continue;
    // Answered, and the answer waits in the mailbox, or was set aside.
    const aside = dead.some(({ cause }) => cause === `${row.id}:${taskId}`);
    if (queued === 0 && !aside) wrong.push(`I2: ${row.id} waits for ${taskId}, and there is no such task`);
  }
  if (row.status === "failed") return;
  for (const taskId of open) wrong.push(`I2: ${row.id} does not wait for ${taskId}, and the task is open`);
  const answered = new Map<string, number>();
  for (const entry of log) {
    if (entry.kind !== "task-answer" || entry.cause === null || !entry.cause.startsWith(row.id)) continue;
    const name = `${entry.incarnation} ${entry.cause}`;
    answered.set(name, (answered.get(name) ?? 0) + 1);
  }
  for (const [name, times] of answered) if (times > 1) wrong.push(`I1: ${name} was answered ${times} times`);
}

function checkTimers({ row }: InstanceEnd, now: number, wrong: string[]): void {
  if (row.deletedAt !== null || (row.status !== "running" && row.status !== "cancelling")) return;
  const { timers } = JSON.parse(row.snapshot) as Snapshot;
  for (const [id, { dueAt }] of Object.entries(timers)) {
    if (dueAt <= now)
      wrong.push(`I8: timer ${id} of ${row.id} was due ${now - dueAt} ms ago and did not fire`);
  }
}

/** I1, I3, I4: each event once, where and as it was acknowledged, in the order of its client. */
function checkSends(
  history: History,
  ends: ReadonlyMap<string, InstanceEnd>,
  enqueuedBy: World["enqueuedBy"],
  wrong: string[],
): void {
  const places = placesOf(ends, (entry) => entry.actor === "local");
  const lastOf = new Map<string, number>();
  const wasThere = ({ messageId }: Entry, { commits }: SendSeen): boolean =>
    messageId !== null && (enqueuedBy.get(messageId) ?? Infinity) <= commits;
  for (const sent of history.sends) {
    const found = places.get(sent.mark) ?? [];
    const entries = found.filter((place) => place.entry !== null);
    const name = `${sent.mark} (${sent.type} to ${sent.instanceId})`;
    // A dead letter sent again is an entry of its own.
    const firsts = entries.filter(({ entry }) => entry && isFirst(entry));
    // A key counts in one life of its instance.
    const lives = new Set(firsts.map(({ entry }) => entry?.incarnation));
    // Repeated when its answer was kept no more, it counts anew.
    if (firsts.length > lives.size && sent.spanMs < answersKeptMs)
      wrong.push(`I1: ${name} is in the log ${firsts.length} times`);
    checkAnswer(
      sent,
      firsts.map(({ entry }) => entry as Entry),
      found.length,
      name,
      history,
      ends,
      wrong,
    );
    const [first] = firsts;
    if (!first?.entry || sent.doubtful) continue;
    const { seq, incarnation } = first.entry;
    const waited = sent.session === null && ends.get(sent.instanceId)?.log.slice(seq);
    if (waited && waited.some((entry) => entry.incarnation === incarnation && wasThere(entry, sent)))
      wrong.push(`I1: ${name} overtook what lay in the mailbox before it was sent`);
    const line = `${sent.client} ${sent.instanceId} ${incarnation}`;
    // A session's events run ahead of what waits in the mailbox; nothing that is sent after them runs ahead of them.
    const own = sent.session === null ? line : `${line} ${sent.session}`;
    if (seq < (lastOf.get(own) ?? 0)) wrong.push(`I1: ${name} overtook an earlier one`);
    lastOf.set(own, seq);
    lastOf.set(line, Math.max(seq, lastOf.get(line) ?? 0));
  }
}

const isFirst = ({ cause }: Entry): boolean => cause === null || cause.startsWith(sessionCause(""));

function checkAnswer(
  { answer, doubtful, expectedSeq, instanceId }: SendSeen,
  entries: readonly Entry[],
  anywhere: number,
  name: string,
  history: History,
  ends: ReadonlyMap<string, InstanceEnd>,
  wrong: string[],
): void {
  const entry = entries.find(({ seq }) => answer.kind !== "applied" || seq === answer.seq) ?? entries[0];
  if (entry && expectedSeq !== null && entry.seq !== expectedSeq + 1)
    wrong.push(`I3: ${name} expected seq ${expectedSeq} and became ${entry.seq}`);
  switch (answer.kind) {
    case "applied":
      if (entry?.seq !== answer.seq || entry.outcome !== answer.outcome)
        wrong.push(
          `I1: ${name} was acknowledged as ${answer.seq} ${answer.outcome}, and is ${entry ? `${entry.seq} ${entry.outcome}` : "nowhere"}`,
        );
      break;
    case "refused":
      // While a call waited, retention may have removed its instance with the log that told of its event.
      if (entry && !doubtful && !history.forgotten.has(instanceId))
        wrong.push(`I3: ${name} was refused as ${answer.code}, and applied as ${entry.seq}`);
      break;
    case "queued":
      if (anywhere === 0 && !history.deleted.has(instanceId) && !ends.get(instanceId)?.queued)
        wrong.push(`I1: ${name} was queued, and is nowhere`);
      break;
    case "none":
      break;
  }
}

interface Place {
  instanceId: string;
  actor: string;
  entry: Entry | null;
}

function placesOf(
  ends: ReadonlyMap<string, InstanceEnd>,
  mine: (one: { actor: string }) => boolean,
): Map<string, Place[]> {
  const places = new Map<string, Place[]>();
  const add = (mark: string | null, place: Place) => {
    if (mark === null) return;
    const list = places.get(mark);
    if (list) list.push(place);
    else places.set(mark, [place]);
  };
  for (const [instanceId, { log, dead }] of ends) {
    for (const entry of log)
      if (mine(entry)) add(markOf(entry.input), { instanceId, actor: entry.actor, entry });
    for (const letter of dead)
      if (mine(letter)) add(markOf(letter.input), { instanceId, actor: letter.actor, entry: null });
  }
  return places;
}

/** I1, I2: what instances sent to each other arrived once, in order, or was told to be undeliverable. */
function checkBetween(
  history: History,
  ends: ReadonlyMap<string, InstanceEnd>,
  sent: readonly Sent[],
  committed: readonly Committed[],
  wrong: string[],
): void {
  const order = new Map(committed.map(({ id, seq, began }, index) => [`${id}#${seq}`, { index, began }]));
  const placeOf = (id: string, seq: number): number => order.get(`${id}#${seq}`)?.index ?? Infinity;
  const beginOf = (id: string, seq: number): number => order.get(`${id}#${seq}`)?.began ?? Infinity;
  const places = placesOf(ends, ({ actor }) => actor.startsWith("instance:"));
  const bounced = new Map<string, number>();
  for (const [id, { log, dead }] of ends) {
    for (const { type, input } of [...log, ...dead]) {
      if (type !== "error.communication") continue;
      const { data } = JSON.parse(input) as { data?: { to?: string } };
      const line = `${id} ${(data?.to ?? "").replace("instance:", "")}`;
      bounced.set(line, (bounced.get(line) ?? 0) + 1);
    }
  }
  const lastOf = new Map<string, number>();
  const lineOf = ({ from, to, mark }: Sent): string => `${from} ${to} ${mark}`;
  // An event that is repeated in its instance's next life is applied in each, and sends on in each.
  const times = new Map<string, number>();
  const seen = new Map<string, number>();
  for (const each of sent)
    if (each.type === "pong") times.set(lineOf(each), (times.get(lineOf(each)) ?? 0) + 1);
  for (const each of sent) {
    const { from, fromSeq, to, type, mark } = each;
    if (mark === null || type !== "pong") continue;
    const name = `pong ${mark} from ${from}#${fromSeq} to ${to}`;
    // Who was forked sends what the other sent, too.
    const arrived = (places.get(mark) ?? []).filter(
      ({ entry, actor }) => actor === `instance:${from}` && (entry === null || entry.type === "pong"),
    );
    const entries = arrived.flatMap(({ entry }) => (entry === null ? [] : [entry]));
    if (entries.length > (times.get(lineOf(each)) ?? 0))
      wrong.push(`I1: ${name} is in the log ${entries.length} times`);
    const end = ends.get(to);
    const alive = end && end.row.deletedAt === null && !history.deleted.has(to) && !isEnded(end.row.status);
    const back = bounced.get(`${from} ${to}`) ?? 0;
    // Sent before there was a receiver, or while it came to be: the sender was told, when it was there to be told, or will be
    // when it runs again.
    const early = placeOf(to, 1) >= beginOf(from, fromSeq);
    const sender = ends.get(from);
    const untold =
      history.deleted.has(from) || isEnded(sender?.row.status ?? "") || (sender?.queued ?? 0) > 0;
    if (arrived.length === 0 && (back > 0 || (early && untold))) bounced.set(`${from} ${to}`, back - 1);
    else if (alive && end.queued === 0 && arrived.length === 0)
      wrong.push(`I2: ${name} was sent and never arrived`);
    const before = seen.get(lineOf(each)) ?? 0;
    seen.set(lineOf(each), before + 1);
    const entry = entries[before];
    // Which of several with one mark did not arrive is not known.
    const isWhole = entries.length === times.get(lineOf(each));
    if (!entry || !isWhole || history.deleted.has(to) || history.deleted.has(from)) continue;
    const line = `${from} ${to} ${entry.incarnation}`;
    if (entry.seq < (lastOf.get(line) ?? 0)) wrong.push(`I1: ${name} overtook an earlier one`);
    lastOf.set(line, entry.seq);
  }
}

/** I3: an answer is taken under its lease alone, and then it arrives. */
function checkAnswers(history: History, ends: ReadonlyMap<string, InstanceEnd>, wrong: string[]): void {
  const taken = new Map<string, string>();
  for (const { instanceId, taskId, mark, leaseUntil, askedAt, answer, doubtful } of history.answers) {
    const name = `${instanceId}:${taskId}`;
    // A deed's answer that comes after its cancellation is kept, whenever it comes: it moves nothing.
    if (answer === "succeeded" && !doubtful && askedAt >= leaseUntil)
      wrong.push(`I3: the answer to ${name} was taken ${askedAt - leaseUntil} ms after its lease`);
    if (answer !== "succeeded" || history.deleted.has(instanceId)) continue;
    if (taken.has(name) && taken.get(name) !== mark)
      wrong.push(`I3: two claims of ${name} were both answered`);
    taken.set(name, mark);
    // An undoing answers nobody: check-families looks for its end.
    if (isUndoing(taskId)) continue;
    const end = ends.get(instanceId);
    const arrived =
      end?.log.some(({ cause, kind }) => cause === name && kind !== "event") ||
      end?.dead.some(({ cause }) => cause === name);
    if (end && end.queued === 0 && !arrived && end.row.incarnation === 1)
      wrong.push(`I2: the answer to ${name} was acknowledged and never arrived`);
  }
}

/** I7, and that a fence is given to one session. */
async function checkLocks(
  store: Store,
  history: History,
  wrong: string[],
): Promise<Map<string, LockLogRow[]>> {
  const logs = new Map<string, LockLogRow[]>();
  for (const key of history.lockKeys) {
    const log = (await store.listLockLog(key, null, all)).reverse();
    logs.set(key, log);
    log.forEach((entry, index) => {
      if (entry.seq !== index + 1)
        wrong.push(`I7: the log of ${key} has ${entry.seq} where ${index + 1} should be`);
      if (entry.fence < (log[index - 1]?.fence ?? 0))
        wrong.push(`I7: the fence of ${key} falls at ${entry.seq}`);
    });
    const [row] = await store.findLocks([key]);
    if (!row || wrong.length > 0) continue;
    const folded = foldLockLog(key, log);
    if (canonicalJson({ ...folded }) !== canonicalJson({ ...row }))
      wrong.push(`I7: the row of ${key} is not the fold of its log: ${text(row)} ${text(folded)}`);
    checkQueueOrder(key, log, wrong);
    checkLeases(key, log, wrong);
  }
  const given = new Map<string, string>();
  for (const { key, session, fence } of history.grants) {
    const name = `${key} ${fence}`;
    if ((given.get(name) ?? session) !== session) wrong.push(`I3: fence ${fence} of ${key} was given twice`);
    given.set(name, session);
    const granted = logs.get(key)?.some((entry) => entry.fence === fence && entry.session === session);
    if (!granted)
      wrong.push(`I7: fence ${fence} of ${key} was given to ${session}, and its log does not say so`);
  }
  return logs;
}

/** Waiters are served in the order of their tickets. */
function checkQueueOrder(key: string, log: readonly LockLogRow[], wrong: string[]): void {
  const queue: string[] = [];
  for (const { type, session, seq } of log) {
    if (session === null) continue;
    if (type === "ENQUEUED" && !queue.includes(session)) queue.push(session);
    if (type === "HANDOFF" && queue[0] !== session)
      wrong.push(`I7: ${key}#${seq} was handed to ${session} out of turn`);
    if (type === "ACQUIRED" && queue.length > 0)
      wrong.push(`I7: ${key}#${seq} was acquired by ${session} before ${queue.join(", ")}`);
    if (type === "HANDOFF" || type === "WAIT_TIMEOUT" || type === "RENEWED") {
      const place = queue.indexOf(session);
      if (place >= 0) queue.splice(place, 1);
    }
    if (type === "DELETED") queue.splice(0);
  }
}

/** I3: what is given away is free by then, and what is renewed is held. */
function checkLeases(key: string, log: readonly LockLogRow[], wrong: string[]): void {
  log.forEach((entry, index) => {
    const isGrant = entry.type === "ACQUIRED" || entry.type === "HANDOFF";
    if (!isGrant && entry.type !== "RENEWED") return;
    const before = foldLockLog(key, log.slice(0, index));
    if (isHeldAt(before, entry.at) === isGrant)
      wrong.push(
        `I3: ${key}#${entry.seq} is ${entry.type} at ${entry.at}, and was ${isGrant ? "" : "not "}held`,
      );
  });
}

/** I3: at the place in the order of commits where a fenced event was applied, its lock was held under that fence. */
function checkFences(
  history: History,
  ends: ReadonlyMap<string, InstanceEnd>,
  lockLogs: ReadonlyMap<string, LockLogRow[]>,
  committed: readonly Committed[],
  wrong: string[],
): void {
  const fenced = new Map<string, SendSeen>();
  const bySeen = new Map(
    history.sends.filter(({ fences }) => fences.length > 0).map((sent) => [sent.mark, sent]),
  );
  for (const { log } of ends.values()) {
    for (const entry of log) {
      const sent =
        entry.cause === null && entry.kind !== "start" ? bySeen.get(markOf(entry.input) ?? "") : undefined;
      if (sent) fenced.set(`${entry.instanceId}#${entry.seq}`, sent);
    }
  }
  const reached = new Map<string, number>();
  for (const change of committed) {
    const { now } = change;
    if (change.kind === "lock") reached.set(change.id, change.seq);
    if (change.kind !== "instance") continue;
    const found = fenced.get(`${change.id}#${change.seq}`);
    for (const { key, session, fence } of found?.fences ?? []) {
      const row = foldLockLog(key, (lockLogs.get(key) ?? []).slice(0, reached.get(key) ?? 0));
      const good =
        row.session === session && row.fence === fence && row.expired === 0 && (row.expiresAt ?? 0) > now;
      if (!good)
        wrong.push(
          `I3: ${change.id}#${change.seq} was written under fence ${fence} of ${key}, which stood at ${row.fence} ${text(row.session)} until ${row.expiresAt ?? 0}, at ${now}`,
        );
    }
  }
}
