/**
 * Faults planted into the product's source, one place each: what a careless change of it might do. Each must be caught by a
 * seed; the list with its seeds is in README.md, and mutations.test.ts catches each again.
 *
 * One is more than its fault: `answer-locks-its-instance` also waits ten statements long between the two rows, which widens the
 * window in which a step takes them the other way round.
 */
import type { SeedOptions } from "./run-seed";
import type { Change } from "./mutant";

export interface Mutation extends Change {
  what: string;
  level: "boundary" | "statement";
  /** A seed that catches it, and the beginning of what it says. */
  seed: number;
  says: string;
  options: SeedOptions;
}

const nothing = Object.fromEntries(
  [
    ["send", "repeat", "start", "lock", "several", "control", "task", "dead", "together", "session"],
    ["fork", "reset", "children", "force", "migrate", "person", "batch"],
  ]
    .flat()
    .map((name) => [name, 0]),
);
/** So that a seed has much of what the fault is about. */
const only = (weights: NonNullable<SeedOptions["weights"]>): NonNullable<SeedOptions["weights"]> => ({
  ...nothing,
  ...weights,
});

/** Both with a concurrency key. */
const keyed = ["sim24", "sim28"] as const;

const stepping = "lib/runtime/stepping";
const lockRules = "lib/runtime/locks/lock-rules.ts";
const taskRules = "lib/runtime/tasks/task-rules.ts";
const purging = "lib/runtime/workers/purge-old.ts";
const scheduling = "lib/runtime/schedules/schedule-rules.ts";
const optimistic = "lib/store/sql/optimistic-batch.ts";

export const mutations: Record<string, Mutation> = {
  "fence-unchecked": {
    what: "fences are not compared when the step is applied",
    file: `${stepping}/step-batch.ts`,
    from: "if (wrong === null) continue;",
    to: "if (wrong !== undefined) continue;",
    level: "boundary",
    seed: 1,
    says: "I3",
    options: { weights: only({ send: 60, lock: 40, force: 20 }) },
  },
  "older-fence-taken": {
    what: "a fence is compared with <, not with =: an older one of the same session is good",
    file: `${stepping}/step-batch.ts`,
    from: "if (lock.fence !== fence.fence) return",
    to: "if (lock.fence < fence.fence) return",
    level: "boundary",
    seed: 10,
    says: "I3",
    options: { weights: only({ send: 60, lock: 60, force: 40 }), sessions: 1 },
  },
  "expected-seq-unchecked": {
    what: "expectedSeq is not compared when the message is applied",
    file: `${stepping}/step-batch.ts`,
    from: "if (message.expectedSeq !== null && message.expectedSeq !== row.seq)",
    to: "if (message.expectedSeq === -1)",
    level: "boundary",
    seed: 4,
    says: "I3",
    options: {},
  },
  "key-not-kept": {
    what: "a key is not stored with what was done under it",
    file: `${stepping}/step-batch.ts`,
    from: `|| verdict.kind === "refused") continue;`,
    to: `|| verdict.kind !== "queued") continue;`,
    level: "boundary",
    seed: 1,
    says: "I1",
    options: { weights: { repeat: 30 } },
  },
  "message-stays": {
    what: "an applied message is not taken out of the mailbox",
    file: `${stepping}/turn.ts`,
    from: "if (place) this.writes.consumed.push(place);",
    to: "",
    level: "boundary",
    seed: 14,
    says: "I1",
    options: {},
  },
  "timer-before-its-time": {
    what: "a timer fires with the next step, whatever the time",
    file: `${stepping}/turn.ts`,
    from: "if (timer.dueAt > now) continue;",
    to: "",
    level: "boundary",
    seed: 1,
    says: "I6",
    options: {},
  },
  "timer-outlives-its-state": {
    what: "a state that is left does not take its timers along",
    file: "lib/statechart/enter-exit.ts",
    from: "run.disarm(afterTimerId(state.name, timer.key, run.generations[state.name] ?? 0));",
    to: "void timer;",
    level: "boundary",
    seed: 1,
    says: "I6",
    options: {},
  },
  "answer-of-an-earlier-entry": {
    what: "a task's answer is taken whatever entry of its state asked for it",
    file: "lib/statechart/macrostep.ts",
    from: "if (running?.generation !== input.generation)",
    to: "if (running === undefined)",
    level: "boundary",
    seed: 10,
    says: "I6",
    options: {
      charts: ["sim27", "sim31"],
      weights: only({ send: 60, task: 80 }),
      busyRate: 0.6,
      clients: 4,
      operations: 30,
    },
  },
  "lease-over": {
    what: "a claim counts though its lease is over",
    file: taskRules,
    from: `if (task.leaseUntil <= now) return "lost";`,
    to: "",
    level: "boundary",
    seed: 2,
    says: "I3",
    options: { weights: only({ send: 60, task: 60 }), clients: 5, operations: 30 },
  },
  "retry-that-nobody-can-claim": {
    what: "a task that is to be tried again is not put back into its queue",
    file: taskRules,
    from: "queue: task.type,",
    to: "queue: null,",
    level: "boundary",
    seed: 1,
    says: "I8",
    options: { weights: { task: 60 } },
  },
  "waiter-granted-twice": {
    what: "who is granted a lock after waiting stays in its queue",
    file: lockRules,
    from: "book.leave(waiter);\n    if (isGone)",
    to: "if (isGone)",
    level: "boundary",
    seed: 4,
    says: "I7",
    options: { weights: only({ send: 20, lock: 80 }) },
  },
  "fence-given-again": {
    what: "the fence does not rise when a lock changes hands",
    file: lockRules,
    from: "fence: book.row.fence + 1,\n    holder: to.holder,",
    to: "fence: Math.max(1, book.row.fence),\n    holder: to.holder,",
    level: "boundary",
    seed: 1,
    says: "I3",
    options: { weights: only({ send: 20, lock: 80 }) },
  },
  "renewed-after-its-end": {
    what: "a lease that ran out is renewed",
    file: lockRules,
    from: `if (!book.isHeld()) return { lost: row.expiresAt === row.holdUntil ? "hold-over" : "expired" };`,
    to: "",
    level: "boundary",
    seed: 7,
    says: "I3",
    options: { weights: only({ send: 20, lock: 80 }) },
  },
  "served-from-the-back": {
    what: "of those who wait for a lock the last is served first",
    file: lockRules,
    from: "for (const waiter of book.queue) {\n    // A state",
    to: "for (const waiter of [...book.queue].reverse()) {\n    // A state",
    level: "boundary",
    seed: 4,
    says: "I7",
    options: { weights: only({ send: 20, lock: 80 }) },
  },
  "overtaken-step-written": {
    what: "an optimistic step does not look whether its instance is still where it was read",
    file: optimistic,
    from: ` AND "instances"."seq" = \${seq} - 1`,
    to: "",
    level: "boundary",
    seed: 1,
    says: "SqliteError: UNIQUE constraint failed: event_log",
    options: { weights: only({ send: 80 }), keyRate: 0 },
  },
  "mailbox-overtaken": {
    what: "an optimistic step does not look whether messages wait before it",
    file: optimistic,
    from: ` AND NOT EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = \${id})`,
    to: "",
    level: "boundary",
    seed: 10,
    says: "I1",
    options: { weights: only({ send: 80 }), keyRate: 0, clients: 5, operations: 30, instances: 2 },
  },
  "key-of-another-taken": {
    what: "an instance begins though another has its concurrency key",
    file: "lib/store/sql/concurrency-queries.ts",
    from: "if (row?.free === 0 && row.instanceId === instanceId && row.taskId === noTask) return true;",
    to: "if (row?.free === 0) return true;",
    level: "boundary",
    seed: 5,
    says: "I1",
    options: { charts: keyed },
  },
  "key-never-given-up": {
    what: "an instance that has ended or failed keeps its concurrency key",
    file: `${stepping}/turn.ts`,
    from: "this.writes.keysLeft.push(this.row.id);",
    to: "void 0;",
    level: "boundary",
    seed: 7,
    says: "I8",
    options: { charts: keyed, operations: 24 },
  },
  "cut-behind-its-snapshot": {
    what: "an instance's log is cut behind the snapshot that it is rebuilt from",
    file: purging,
    from: "await tx.removeLog(instanceId, seq, entriesMax);",
    to: "await tx.removeLog(instanceId, seq + 1, entriesMax);",
    level: "boundary",
    seed: 6,
    says: "I5",
    options: { retention: true },
  },
  "forgotten-before-its-time": {
    what: "an instance is forgotten when it has ended, whatever its rule says",
    file: purging,
    from: "const ended = found.filter((instance) => instance.ended === 1);",
    to: "const ended = found;",
    level: "boundary",
    seed: 13,
    says: "I9",
    options: { retention: true },
  },
  "missed-ticks-fired": {
    what: "ticks that a schedule is to skip are fired when somebody is there again",
    file: scheduling,
    from: "return portion(inTime, skippedOf(missed), next);",
    to: "return portion(due, null, next);",
    level: "boundary",
    seed: 1,
    says: "I9",
    options: { schedules: true },
  },
  "made-up-without-bound": {
    what: "of missed ticks that are to be made up more are fired than the schedule's bound",
    file: scheduling,
    from: "return portion(due.slice(-Math.min(due.length, misfireMax + inTime.length)), skippedOf(tooMany), next);",
    to: "return portion(due, null, next);",
    level: "boundary",
    seed: 1,
    says: "I9",
    options: { schedules: true },
  },
  "portion-without-a-rest": {
    what: "of more ticks than are fired at once the rest is not due again",
    file: scheduling,
    from: "nextAt: fire[firedAtOnceMax] ?? next,",
    to: "nextAt: next,",
    level: "boundary",
    seed: 21,
    says: "I1",
    options: { schedules: true, retention: true },
  },
  "answer-locks-its-instance": {
    what: "a task's answer takes its instance's row after the task's; a step takes them the other way round",
    file: "lib/runtime/tasks/complete-task.ts",
    from: "await postAnswer(tx, task, { output }",
    to: "for (let left = 10; left > 0; left -= 1) await tx.now(); await tx.lockInstances([task.instanceId]); await postAnswer(tx, task, { output }",
    level: "statement",
    seed: 6,
    says: "a deadlock",
    options: {
      weights: only({ send: 40, task: 80 }),
      clients: 5,
      instances: 1,
      operations: 12,
      faultRate: 0,
    },
  },
};
