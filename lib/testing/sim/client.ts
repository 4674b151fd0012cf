/**
 * A client that does random things to the installation and remembers what it was told. It repeats what has a key until it
 * hears a definite answer; what has none it asks once.
 */
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { SendEventArgs } from "@/lib/runtime/stepping/send-event";
import type { Runtime } from "@/lib/runtime/runtime";
import { Random, randomEvents } from "../random-chart";
import type { History, SendSeen } from "./history";
import { versions } from "./simulated-chart";
import { actor, isTransient, type World } from "./world";

type Told<T> =
  | { kind: "done"; value: T; doubtful: boolean }
  | { kind: "refused"; error: LockstepError; doubtful: boolean }
  | { kind: "none" };

/** How often a client does what, relative to each other. */
const usualWeights = {
  send: 44,
  repeat: 6,
  start: 6,
  lock: 11,
  /** Locks at once. */
  several: 3,
  control: 8,
  task: 13,
  dead: 3,
  together: 4,
  session: 4,
  fork: 2,
  reset: 2,
  children: 4,
  migrate: 3,
  person: 3,
  batch: 2,
  /** Beside those among lock's own. */
  force: 0,
};

export interface ClientOptions {
  weights?: Partial<typeof usualWeights>;
  /** So many sessions has a client, and takes them again and again; default: a new one each time it asks for a lock. */
  sessions?: number;
  /** How likely an event has a key. */
  keyRate?: number;
}

const triesMax = 6;
const controls = [
  "suspendInstance",
  "resumeInstance",
  "resumeInstance",
  "cancelInstance",
  "terminateInstance",
  "redriveInstance",
  "redriveInstance",
] as const;

const batchVerbs = [
  "suspend",
  "resume",
  "resume",
  "cancel",
  "redrive",
  "redrive",
  "reset",
  "delete",
  "migrate",
] as const;

interface Held {
  key: string;
  session: string;
  fence: number;
}
interface Claimed {
  token: string;
  instanceId: string;
  taskId: string;
  leaseUntil: number;
}

export class Client {
  private readonly random: Random;
  private made = 0;
  private held: Held[] = [];
  private claimed: Claimed[] = [];
  private readonly keyed: SendSeen[] = [];
  /** Those that there are from the beginning. */
  private readonly first: readonly string[];

  constructor(
    private readonly world: World,
    private readonly history: History,
    private readonly charts: readonly string[],
    private readonly number: number,
    private readonly how: ClientOptions = {},
  ) {
    this.random = new Random(world.options.seed * 31 + number);
    this.first = [...history.instanceIds];
  }

  async run(operations: number): Promise<void> {
    for (let n = 0; n < operations; n += 1) {
      await this.world.hold(null, `client ${this.number}`);
      await this.operate();
    }
  }

  private operate(): Promise<void> {
    const weights = { ...usualWeights, ...this.how.weights };
    const all = Object.entries(weights) as [keyof typeof usualWeights, number][];
    let roll = this.random.below(all.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [name, weight] of all) {
      if (roll < weight) return this[name]();
      roll -= weight;
    }
    return this.send();
  }

  async send(): Promise<void> {
    const { random } = this;
    const held = this.held.length > 0 && random.chance(0.5) ? [random.pick(this.held)] : [];
    const sent = this.newSend({
      instanceId: this.instance(),
      expectedSeq: random.chance(0.15) ? random.below(8) + 1 : null,
      fences: held.map(({ key, session, fence }) => ({ key, session, fence })),
    });
    if (random.chance(0.25)) sent.type = "ping";
    if (random.chance(this.how.keyRate ?? 0.7)) sent.key = sent.mark;
    await this.submit(sent);
    if (sent.key !== null) this.keyed.push(sent);
  }

  private newSend(over: Partial<SendSeen>): SendSeen {
    const sent: SendSeen = {
      client: this.number,
      mark: this.fresh("e"),
      instanceId: "",
      type: this.random.pick(randomEvents),
      key: null,
      expectedSeq: null,
      fences: [],
      commits: this.world.commits,
      began: this.world.clock.length - 1,
      spanMs: 0,
      session: null,
      together: null,
      doubtful: false,
      answer: { kind: "none" },
      ...over,
    };
    this.history.sends.push(sent);
    return sent;
  }

  /** Several in one call. */
  async together(): Promise<void> {
    const instanceId = this.instance();
    const name = this.fresh("g");
    const sends = Array.from({ length: 2 + this.random.below(2) }, () =>
      this.newSend({ instanceId, together: name }),
    );
    const events = sends.map((sent) => {
      const { type, data } = this.argsOf(sent);
      return { type, data };
    });
    const told = await this.ask(true, (runtime) =>
      runtime.sendEvents(actor, { instanceId, events, idempotencyKey: name, waitMs: 300 }),
    );
    sends.forEach((sent, index) => {
      sent.spanMs = this.world.spanMs(sent.began);
      sent.doubtful = told.kind === "none" || told.doubtful;
      const result = told.kind === "done" ? told.value.results[index] : undefined;
      if (result) sent.answer = { kind: "applied", seq: result.seq, outcome: result.outcome };
      else if (told.kind === "refused") sent.answer = { kind: "refused", code: told.error.code };
    });
  }

  /** A few events while nobody else's are applied. */
  async session(): Promise<void> {
    const instanceId = this.instance();
    const ttlMs = this.random.chance(0.5) ? 5_000 : 60_000;
    const idempotencyKey = this.fresh("o");
    const told = await this.ask(true, (runtime) =>
      runtime.openSession(actor, { instanceId, ttlMs, idempotencyKey }),
    );
    if (told.kind !== "done") return;
    const { session } = told.value;
    for (let left = 1 + this.random.below(3); left > 0; left -= 1) {
      await this.world.hold(null, `client ${this.number}`);
      const sent = this.newSend({ instanceId, session });
      if (this.random.chance(0.7)) sent.key = sent.mark;
      await this.submit(sent);
    }
    if (this.random.chance(0.7))
      await this.ask(true, (runtime) => runtime.endSession(actor, { instanceId, session }));
  }

  async fork(): Promise<void> {
    const instanceId = this.instance();
    const id = this.fresh("f");
    this.history.instanceIds.push(id);
    const args = {
      instanceId,
      id,
      reason: "simulated",
      idempotencyKey: id,
      rearmTimers: this.random.chance(0.5),
      ...(this.random.chance(0.5) ? { seq: 1 + this.random.below(6) } : {}),
    };
    await this.ask(true, (runtime) => runtime.forkInstance(actor, args), ["bad-request"]);
  }

  async reset(): Promise<void> {
    const instanceId = this.instance();
    const args = {
      instanceId,
      reason: "simulated",
      idempotencyKey: this.fresh("z"),
      seq: 1 + this.random.below(6),
      rearmTimers: this.random.chance(0.5),
    };
    await this.ask(true, (runtime) => runtime.resetInstance(actor, args), ["bad-request"]);
  }

  async migrate(): Promise<void> {
    const args = {
      instanceId: this.instance(),
      version: this.random.pick(versions),
      reason: "simulated",
      idempotencyKey: this.fresh("v"),
    };
    await this.ask(true, (runtime) => runtime.migrateInstance(actor, args), ["migration-refused"]);
  }

  /** Takes what people are asked, gives it back, or answers. */
  async person(): Promise<void> {
    const open = await this.ask(false, (runtime) => runtime.listOpenTasks(actor, { kind: "human" }));
    if (open.kind !== "done") return;
    const ours = open.value.items.filter(({ instanceId }) => this.history.instanceIds.includes(instanceId));
    if (ours.length === 0) return;
    const { instanceId, taskId } = this.random.pick(ours);
    const key = { instanceId, taskId };
    if (this.random.chance(0.3)) {
      const how = this.random.pick(["take", "take-over", "give-back"] as const);
      await this.ask(true, (runtime) => runtime.takeTask(actor, { ...key, how }));
      return;
    }
    const answer = this.random.chance(0.7) ? { output: this.random.below(5) } : { refusal: "simulated" };
    await this.ask(true, (runtime) => runtime.answerTask(actor, { ...key, ...answer }));
  }

  /** The same verb for several, by workers. */
  async batch(): Promise<void> {
    const verb = this.random.pick(batchVerbs);
    const instanceIds = this.history.instanceIds.filter(() => this.random.chance(0.6));
    const args = {
      verb,
      selection: { instanceIds },
      reason: "simulated",
      idempotencyKey: this.fresh("h"),
      ...(verb === "migrate" ? { version: this.random.pick(versions) } : {}),
      ...(verb === "reset" ? { seq: 1 + this.random.below(6) } : {}),
    };
    if (instanceIds.length === 0) return;
    if (verb === "delete") for (const id of instanceIds) this.history.deleted.add(id);
    const told = await this.ask(true, (runtime) => runtime.createBatch(actor, args), ["bad-request"]);
    if (told.kind === "done") this.history.batches.add(told.value.id);
  }

  /** Makes some instance's children known. */
  async children(): Promise<void> {
    const parent = this.instance();
    const told = await this.ask(false, (runtime) => runtime.listInstances(actor, { parent, limit: 50 }));
    if (told.kind !== "done") return;
    const known = this.history.instanceIds;
    for (const { id } of told.value.items) if (!known.includes(id)) known.push(id);
  }

  private async submit(sent: SendSeen): Promise<void> {
    const told = await this.ask(sent.key !== null, (runtime) => runtime.sendEvent(actor, this.argsOf(sent)));
    sent.spanMs = this.world.spanMs(sent.began);
    if (told.kind === "none") {
      sent.doubtful = true;
      return;
    }
    sent.doubtful ||= told.doubtful;
    if (told.kind === "refused") {
      const seq = told.error.details["seq"];
      sent.answer =
        told.error.code === "step-failed" && typeof seq === "number"
          ? { kind: "applied", seq, outcome: "failed" }
          : { kind: "refused", code: told.error.code };
    } else if (told.value.state === "applied" && told.value.seq !== null) {
      sent.answer = { kind: "applied", seq: told.value.seq, outcome: told.value.outcome ?? "" };
    } else sent.answer = { kind: "queued" };
  }

  private argsOf({ instanceId, type, mark, key, expectedSeq, fences, session }: SendSeen): SendEventArgs {
    const data: Json = { mark, n: mark.length % 4, to: `instance:${this.toOf(mark)}` };
    return {
      instanceId,
      type,
      data,
      ...(key === null ? {} : { idempotencyKey: key }),
      ...(expectedSeq === null ? {} : { expectedSeq }),
      ...(fences.length === 0 ? {} : { fences }),
      ...(session === null ? {} : { session }),
      waitMs: Number(mark.at(-1)) % 2 === 0 ? 300 : 0,
    };
  }

  /** Of the mark alone, so that a repeat is the same call. */
  private toOf(mark: string): string {
    let sum = 0;
    for (const sign of mark) sum += sign.charCodeAt(0);
    return this.first[sum % this.first.length] ?? "nobody";
  }

  /** I4: the same call again gets the same answer. */
  async repeat(): Promise<void> {
    const settled = this.keyed.filter(({ answer }) => answer.kind === "applied");
    if (settled.length === 0) return this.send();
    const sent = this.random.pick(settled);
    if (this.history.deleted.has(sent.instanceId)) return;
    const told = await this.ask(false, (runtime) => runtime.sendEvent(actor, this.argsOf(sent)));
    const spanMs = this.world.spanMs(sent.began);
    sent.spanMs = spanMs;
    if (told.kind === "none" || this.history.deleted.has(sent.instanceId)) return;
    const seq = told.kind === "done" ? told.value.seq : (told.error.details["seq"] ?? told.error.code);
    const first = sent.answer.kind === "applied" ? sent.answer.seq : null;
    const { instanceId } = sent;
    this.history.repeats.push({ what: `send ${sent.mark}`, instanceId, first, again: seq, spanMs });
  }

  async start(): Promise<void> {
    if (this.random.chance(0.4)) {
      const instanceId = this.instance();
      this.history.deleted.add(instanceId);
      await this.ask(false, (runtime) => runtime.deleteInstance(actor, { instanceId }));
      return;
    }
    const instanceId = this.random.pick(this.first);
    const chartId = this.random.pick(this.charts);
    const version = this.random.pick(versions);
    const idempotencyKey = this.fresh("b");
    const input = startInput(instanceId, this.history.lockKeys, this.random);
    await this.ask(true, (runtime) =>
      runtime.startInstance(actor, { chartId, version, id: instanceId, input, idempotencyKey }),
    );
  }

  async control(): Promise<void> {
    const instanceId = this.instance();
    const verb = this.random.pick(controls);
    const args = { instanceId, reason: "simulated", idempotencyKey: this.fresh("c") };
    const began = this.world.clock.length - 1;
    const told = await this.ask(true, (runtime) => runtime[verb](actor, args));
    if (told.kind !== "done" || !this.random.chance(0.3) || this.history.deleted.has(instanceId)) return;
    const again = await this.ask(true, (runtime) => runtime[verb](actor, args));
    if (again.kind === "none" || this.history.deleted.has(instanceId)) return;
    const seq = again.kind === "done" ? again.value.seq : again.error.code;
    const spanMs = this.world.spanMs(began);
    const what = `${verb} ${instanceId}`;
    this.history.repeats.push({ what, instanceId, first: told.value.seq, again: seq, spanMs });
  }

  async lock(): Promise<void> {
    const { random } = this;
    const roll = random.below(10);
    const mine = this.held.length > 0 ? random.pick(this.held) : null;
    if (random.chance(0.15)) return this.force();
    if (!mine || roll < 5) return this.acquire();
    const { key, session, fence } = mine;
    if (roll < 7) {
      await this.ask(false, (runtime) => runtime.renewLock(actor, { key, session, fence }));
    } else if (roll < 9) {
      const told = await this.ask(true, (runtime) =>
        runtime.releaseLock(actor, { key, session, fence, idempotencyKey: `r-${session}-${fence}` }),
      );
      // Sometimes it goes on writing all the same.
      if (told.kind !== "none" && random.chance(0.7)) this.held = this.held.filter((each) => each !== mine);
    } else await this.force();
  }

  /** An operator's deed: whoever holds it. */
  async force(): Promise<void> {
    if (this.random.chance(0.4)) return this.forceSeen();
    if (this.history.grants.length === 0) return;
    const { key, fence } = this.random.pick(this.history.grants.slice(-2));
    await this.ask(false, (runtime) =>
      runtime.forceReleaseLock(actor, { key, expectedFence: fence, reason: "simulated" }),
    );
  }

  private async forceSeen(): Promise<void> {
    const key = this.random.pick(this.history.lockKeys);
    const seen = await this.ask(false, (runtime) => runtime.getLock(actor, { key }));
    if (seen.kind !== "done") return;
    const { fence } = seen.value;
    await this.ask(false, (runtime) =>
      runtime.forceReleaseLock(actor, { key, expectedFence: fence, reason: "simulated" }),
    );
  }

  private async acquire(): Promise<void> {
    const key = this.random.pick(this.history.lockKeys);
    const call = this.newAcquire();
    const told = await this.ask(true, (runtime) => runtime.acquireLock(actor, { key, ...call }));
    if (told.kind === "done" && told.value.result === "acquired") this.noteGrants(call.session, [told.value]);
  }

  /** All of them or none. */
  async several(): Promise<void> {
    const keys = this.history.lockKeys;
    const call = this.newAcquire();
    const told = await this.ask(true, (runtime) => runtime.acquireLocks(actor, { keys, ...call }));
    if (told.kind === "done" && told.value.result === "acquired")
      this.noteGrants(call.session, told.value.locks);
  }

  private newAcquire() {
    const idempotencyKey = this.fresh("s");
    const session = this.sessionOf(idempotencyKey);
    const ttlMs = this.random.chance(0.5) ? 5_000 : 60_000;
    const waitMs = this.random.chance(0.5) ? 1_000 : 0;
    const bounds = this.random.chance(0.2) ? { holdMaxMs: 20_000, coolMs: 2_000 } : {};
    return { session, holder: `h${this.number}`, ttlMs, waitMs, idempotencyKey, ...bounds };
  }

  private noteGrants(session: string, locks: readonly { key: string; fence: number }[]): void {
    for (const { key, fence } of locks) {
      this.held.push({ key, session, fence });
      this.history.grants.push({ key, session, fence });
    }
  }

  private sessionOf(fresh: string): string {
    const { sessions } = this.how;
    return sessions === undefined ? fresh : `s${this.number}-${this.made % sessions}`;
  }

  async task(): Promise<void> {
    const { random } = this;
    if (this.claimed.length === 0 || random.chance(0.4)) {
      const args = { types: ["work"], workerId: `w${this.number}`, max: 2, waitMs: 0 };
      const told = await this.ask(false, (runtime) => runtime.claimTasks(actor, args));
      const ours = this.history.instanceIds;
      if (told.kind === "done")
        this.claimed.push(...told.value.tasks.filter((task) => ours.includes(task.instanceId)));
      return;
    }
    const task = random.pick(this.claimed);
    const { token } = task;
    const roll = random.below(10);
    if (roll < 2) {
      const told = await this.ask(false, (runtime) => runtime.heartbeatTask(actor, { token }));
      if (told.kind === "done") task.leaseUntil = told.value.leaseUntil;
      // It may have been done.
      if (told.kind === "none") task.leaseUntil = Infinity;
      return;
    }
    if (roll < 4) {
      const error = { code: "simulated", message: "no", retry: random.chance(0.5) };
      await this.ask(false, (runtime) => runtime.failTask(actor, { token, error }));
      return;
    }
    await this.complete(task);
    if (random.chance(0.6)) this.claimed = this.claimed.filter((each) => each !== task);
  }

  private async complete(task: Claimed): Promise<void> {
    const { token, instanceId, taskId, leaseUntil } = task;
    const began = this.world.clock.length - 1;
    const output = this.random.below(5);
    const told = await this.ask(true, (runtime) => runtime.completeTask(actor, { token, output }));
    this.history.answers.push({
      instanceId,
      taskId,
      mark: token,
      leaseUntil,
      // The clock may have gone back meanwhile.
      askedAt: Math.min(...this.world.clock.slice(began)),
      doubtful: told.kind === "none" || told.doubtful,
      answer:
        told.kind === "none"
          ? "none"
          : told.kind === "refused"
            ? "lease-lost"
            : told.value.replayed
              ? "replayed"
              : told.value.status,
    });
  }

  async dead(): Promise<void> {
    const instanceId = this.instance();
    const found = await this.ask(false, (runtime) => runtime.listDeadLetters(actor, { instanceId }));
    if (found.kind !== "done" || found.value.items.length === 0) return;
    const { messageId } = this.random.pick(found.value.items);
    await this.ask(true, (runtime) => runtime.retryDeadLetter(actor, { instanceId, messageId }));
  }

  /** `again`: repeated on another process when no answer came. */
  private async ask<T>(
    again: boolean,
    call: (runtime: Runtime) => Promise<T>,
    alsoExpected: readonly string[] = [],
  ): Promise<Told<T>> {
    let doubtful = false;
    for (let tries = 0; tries < (again ? triesMax : 1); tries += 1) {
      const process = this.world.process(this.random);
      const died = process.crashed.then((): Told<T> => ({ kind: "none" }));
      const told = await Promise.race([this.told(call, process.runtime, doubtful, alsoExpected), died]);
      if (told.kind !== "none") return told;
      doubtful = true;
    }
    return { kind: "none" };
  }

  private async told<T>(
    call: (runtime: Runtime) => Promise<T>,
    runtime: Runtime,
    doubtful: boolean,
    alsoExpected: readonly string[],
  ): Promise<Told<T>> {
    try {
      return { kind: "done", value: await call(runtime), doubtful };
    } catch (error) {
      if (isTransient(error)) return { kind: "none" };
      if (
        error instanceof LockstepError &&
        (expectedCodes.has(error.code) || alsoExpected.includes(error.code))
      )
        return { kind: "refused", error, doubtful };
      throw error;
    }
  }

  private instance(): string {
    return this.random.pick(this.history.instanceIds);
  }

  private fresh(kind: string): string {
    this.made += 1;
    return `${kind}${this.world.options.seed}-${this.number}-${this.made}`;
  }
}

/** A caller's ordinary refusals. Others (internal, bad-request) are defects. */
const expectedCodes: ReadonlySet<string> = new Set([
  "not-found",
  "instance-exists",
  "instance-ended",
  "wrong-status",
  "sequence-conflict",
  "stale-fence",
  "step-failed",
  "lease-lost",
  "lock-lost",
  "lock-deadlock",
  "fence-moved",
  "instance-session",
  "instance-busy",
]);

/** What families take: who they are, and what their `zone` locks. */
export function startInput(name: string, lockKeys: readonly string[], random: Random): Json {
  const keys = lockKeys.filter(() => random.chance(0.6));
  return { name, keys: keys.length > 0 ? keys : [random.pick(lockKeys)] };
}
