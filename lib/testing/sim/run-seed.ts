/**
 * One seed of the boundary simulator: an installation, clients, faults; then calm; then the check.
 */
import type { Store } from "@/lib/store/store";
import { createRuntime } from "@/lib/runtime/runtime";
import { Machines } from "@/lib/runtime/charts/machines";
import { nextOfSaga } from "@/lib/runtime/tasks/saga-rules";
import { Random } from "../random-chart";
import { checkEnd } from "./check";
import { checkRetained, choosePolicy, setPolicy } from "./check-retention";
import { checkSchedules } from "./check-schedules";
import { isUndoing } from "./check-families";
import { Client, startInput, type ClientOptions } from "./client";
import { withDescendants } from "./instance-end";
import type { Emptier } from "./empty-database";
import { emptyHistory, type History } from "./history";
import type { RemovedRows } from "./removed-rows";
import { chooseCharts, isFamily, namedCharts, versionOf } from "./simulated-chart";
import { chooseSchedules, insertSchedules, startedBy } from "./simulated-schedules";
import { simulatedStore } from "./simulated-store";
import { actor, World, type WorldOptions } from "./world";

export interface SeedOptions
  extends Pick<WorldOptions, "plant" | "watch" | "rewrite" | "blocked">, ClientOptions {
  clients?: number;
  operations?: number;
  processes?: number;
  faultRate?: number;
  busyRate?: number;
  instances?: number;
  /** Default: the seed's own two. */
  charts?: readonly [string, string];
  /** Whether what is over is forgotten by a policy of the seed; default: by every fourth seed. */
  retention?: boolean;
  /** Whether there are schedules; default: in every fourth seed. */
  schedules?: boolean;
}
export interface SeedEnd {
  seed: number;
  wrong: string[];
  /** What happened last, for who looks for the cause. */
  trail: string[];
  crashes: number;
  events: number;
}

/** A database prepared for seeds: its charts are published, its runtime's compiled charts kept. */
export class Simulator {
  private readonly published = new Set<string>();
  private readonly machines: Machines;

  constructor(
    readonly store: Store,
    /** Of its database; not of the store, which knows of no such thing. */
    private readonly emptier: Emptier,
    /** null: nothing is forgotten by any seed. */
    private readonly removed: RemovedRows | null = null,
  ) {
    this.machines = new Machines(store);
  }

  async run(seed: number, options: SeedOptions = {}): Promise<SeedEnd> {
    const random = new Random(seed);
    const chosen = chooseCharts(random);
    const charts = options.charts ?? chosen;
    for (const chart of [...namedCharts, ...charts]) await this.publish(chart);
    await this.emptier.empty();
    this.removed?.forget();
    // Of its own, so that what else a seed chooses is the same with it and without.
    const ages = new Random(seed * 17 + 5);
    const policy =
      (options.retention ?? ages.chance(0.25)) && this.removed !== null ? choosePolicy(ages) : null;
    if (policy) await setPolicy(this.store, policy);
    // SQLite notices another process's writes at its next transaction, and is patient with it for a while.
    await this.store.transaction(() => Promise.resolve());
    const history = emptyHistory();
    for (const name of ["a", "b", "c"].slice(0, options.instances ?? 3))
      history.instanceIds.push(`s${seed}-${name}`);
    for (const name of ["k", "l"]) history.lockKeys.push(`s${seed}-${name}`);
    const ticking = new Random(seed * 23 + 11);
    const schedules =
      (options.schedules ?? ticking.chance(0.25))
        ? chooseSchedules(ticking, seed, history.instanceIds, policy ? "leaps" : "steps")
        : [];
    await insertSchedules(this.store, schedules);
    const { position } = await this.store.changesSince(null, 1);
    let world: World | null = null;
    const wrong: string[] = [];
    const began = { random, history, charts, position, options };
    let uninstall: () => void = () => undefined;
    try {
      world = new World({
        seed,
        store: this.store,
        storeOf: simulatedStore,
        processes: options.processes ?? 2,
        faultRate: options.faultRate ?? 0.04,
        busyRate: options.busyRate ?? 0.12,
        ...(policy ? { ages } : {}),
        ...(options.plant ? { plant: options.plant } : {}),
        ...(options.watch ? { watch: options.watch } : {}),
        ...(options.rewrite ? { rewrite: options.rewrite } : {}),
        ...(options.blocked ? { blocked: options.blocked } : {}),
        onTime: (time) => (uninstall = time.install(new Random(seed + 1))),
      });
      const follower = new Follower(world, position);
      await live(world, began);
      wrong.push(...world.reported.map((error) => `reported: ${describe(error)}`));
      if (world.deadlocks > 0) wrong.push(`a deadlock: ${world.deadlocks} transactions ran again`);
      uninstall();
      wrong.push(...(await follower.end(history)));
      history.instanceIds.push(...(await startedBy(this.store, schedules)));
      if (policy && this.removed !== null) {
        const { store, machines, removed } = this;
        wrong.push(...(await checkRetained({ store, machines, history, policy, removed, world })));
        for (const { id } of world.purged) {
          history.deleted.add(id);
          history.forgotten.add(id);
        }
        removed.putBack();
        await this.store.transaction(() => Promise.resolve());
      }
      wrong.push(...(await checkEnd(this.store, this.machines, history, world)));
      const seen = { history, now: world.nowMs, forgets: policy !== null };
      await checkSchedules(this.store, schedules, seen, wrong);
    } catch (error) {
      wrong.push(describe(error));
    } finally {
      uninstall();
      if (options.watch) await world?.abandon();
    }
    return {
      seed,
      wrong,
      trail: world?.trail ?? [],
      crashes: world?.crashes ?? 0,
      events: history.sends.length,
    };
  }

  private async publish(id: string): Promise<void> {
    if (this.published.has(id)) return;
    if (!(await this.store.findChart(id))) {
      const runtime = createRuntime({ store: this.store, report: () => undefined });
      const first = await runtime.createChart(actor, { id, text: JSON.stringify(versionOf(id, 1)) });
      await runtime.publishVersion(actor, { chartId: id, revision: first.revision });
      const text = JSON.stringify(versionOf(id, 2));
      const { revision } = await runtime.saveDraft(actor, {
        chartId: id,
        baseRevision: first.revision,
        text,
        layout: first.draft.layout,
      });
      await runtime.publishVersion(actor, { chartId: id, revision });
    }
    this.published.add(id);
  }
}

/** Where instances come and go by themselves: more that goes on, less that ends. */
const familyWeights = { send: 60, task: 22, start: 3, dead: 1, fork: 1, reset: 1 };

async function live(
  world: World,
  { history, charts, options }: { history: History; charts: readonly string[]; options: SeedOptions },
): Promise<void> {
  const how = isFamily(charts[0])
    ? { ...options, weights: { ...familyWeights, ...options.weights } }
    : options;
  const clients = Array.from(
    { length: options.clients ?? 3 },
    (_, number) => new Client(world, history, charts, number + 1, how),
  );
  const [first] = world.processes;
  history.instanceIds.forEach((id, index) => {
    const chartId = charts[index % 2] ?? "";
    const input = startInput(id, history.lockKeys, world.random);
    first?.runtime.startInstance(actor, { chartId, id, input }).catch(() => undefined);
  });
  await drive(
    world,
    clients.map((client) => client.run(options.operations ?? 12)),
  );

  world.note("calm");
  world.faults = false;
  for (const process of [...world.processes]) process.crash();
  await settle(world, history);
  // What sleeps for a while comes due, once; also what was put to sleep before the clock went back.
  world.passTime(Math.max(...world.clock) - world.nowMs + 120_000);
  await settle(world, history);
  for (let round = 0; round < roundsMax && (await undo(world, history)); round += 1)
    await settle(world, history);
}

/** A saga has few deeds. */
const roundsMax = 10;

/** Carries out what is to be undone, and nothing else. True when there was any. */
async function undo(world: World, { instanceIds }: History): Promise<boolean> {
  const { runtime } = world.process(world.random);
  const ours = await withDescendants(world.options.store, instanceIds);
  let undone = 0;
  const work = async () => {
    const { tasks } = await runtime.claimTasks(actor, {
      types: ["work"],
      workerId: "undoes",
      max: 100,
      waitMs: 0,
    });
    for (const { instanceId, taskId, token } of tasks) {
      if (ours.has(instanceId) && isUndoing(taskId)) {
        await runtime.completeTask(actor, { token, output: null });
        undone += 1;
      } else await runtime.releaseTask(actor, { token });
    }
  };
  await drive(world, [work()]);
  return undone > 0;
}

/** The feed may wait for a transaction that a crash has left behind. */
const looksMax = 250;

/** Lets things happen until all of that has. */
async function drive(world: World, all: readonly Promise<unknown>[]): Promise<void> {
  let over = false;
  const failures: unknown[] = [];
  void Promise.all(all)
    .catch((error: unknown) => failures.push(error))
    .finally(() => {
      over = true;
      world.touch();
    });
  await world.drive(() => over);
  if (failures.length > 0) throw failures[0];
}

/** Reads the feed of changes beside the clients, from place to place. */
class Follower {
  private readonly store: Store;
  private readonly seen = new Map<string, number>();
  private over = false;
  private hasMissed = false;

  constructor(
    private readonly world: World,
    private position: string,
  ) {
    const { store, plant } = world.options;
    this.store = plant ? plant(store, world, null) : store;
    void this.follow();
  }

  private async follow(): Promise<void> {
    while (!this.over && this.world.faults) {
      const committed = this.world.nextCommit();
      await this.world.hold(null, "follows");
      const call = { rests: "no", pid: null } as const;
      this.world.begin(call);
      await this.look().finally(() => this.world.end(call));
      await committed;
    }
  }

  private async look(): Promise<number> {
    const { changes, position, resync } = await this.store.changesSince(this.position, 1_000);
    this.position = position;
    // Retention has removed what it had not been shown.
    if (resync && this.world.options.ages) this.hasMissed = true;
    for (const change of changes) {
      if (change.kind === "instance") this.seen.set(change.id, (this.seen.get(change.id) ?? 0) + 1);
    }
    return changes.length;
  }

  /** What it has not been shown. */
  async end({ instanceIds }: History): Promise<string[]> {
    this.over = true;
    const { store } = this.world.options;
    const wrong: string[] = [];
    let left = looksMax;
    for (const id of instanceIds) {
      const written = (await store.findInstance(id))?.seq ?? 0;
      for (; !this.hasMissed && (this.seen.get(id) ?? 0) < written && left > 0; left -= 1) {
        if ((await this.look()) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const seen = this.seen.get(id) ?? 0;
      if (seen !== written && !this.hasMissed)
        wrong.push(`the feed has shown ${seen} of ${written} entries of ${id}`);
    }
    return wrong;
  }
}

/** A dead process's transaction may hold a row for a round still; after ten rounds it is a fault. */
async function settle(world: World, history: History): Promise<void> {
  for (let round = 0; round < 10; round += 1) {
    await world.calm();
    const { found } = await world.options.store.findRunnable(world.nowMs, "");
    const isLeft = found.some(({ id }) => history.instanceIds.includes(id));
    if (!isLeft && !(await hasMoreToUndo(world))) return;
  }
}

/** An undoing came to its end behind the loops' last look. */
async function hasMoreToUndo({ options: { store }, nowMs }: World): Promise<boolean> {
  for (const { id, incarnation } of await store.listInstances({ status: "compensating" }, null, 100)) {
    if (nextOfSaga(await store.sagaTasks(id, incarnation), nowMs).do !== "wait") return true;
  }
  return false;
}

const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ""}` : String(error);
