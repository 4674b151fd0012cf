/**
 * One seed of the boundary simulator: an installation, clients, faults; then calm; then the check.
 */
import type { Store } from "@/lib/store/store";
import { createRuntime } from "@/lib/runtime/runtime";
import { deleteLock, openLockBook } from "@/lib/runtime/lock-rules";
import { Machines } from "@/lib/runtime/machines";
import { Random } from "../random-chart";
import { checkEnd } from "./check";
import { Client, type ClientOptions } from "./client";
import { emptyHistory, type History } from "./history";
import { chartKinds, simulatedChart } from "./simulated-chart";
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
  private readonly published = new Set<number>();
  private readonly machines: Machines;

  constructor(readonly store: Store) {
    this.machines = new Machines(store);
  }

  async run(seed: number, options: SeedOptions = {}): Promise<SeedEnd> {
    const random = new Random(seed);
    const charts: string[] = [];
    for (const kind of [random.below(chartKinds), random.below(chartKinds)])
      charts.push(await this.publish(kind));
    const history = emptyHistory();
    for (const name of ["a", "b", "c"].slice(0, options.instances ?? 3))
      history.instanceIds.push(`s${seed}-${name}`);
    for (const name of ["k", "l"]) history.lockKeys.push(`s${seed}-${name}`);
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
      wrong.push(...(await checkEnd(this.store, this.machines, history, world)));
    } catch (error) {
      wrong.push(describe(error));
    } finally {
      uninstall();
      await this.clear(history);
    }
    return {
      seed,
      wrong,
      trail: world?.trail ?? [],
      crashes: world?.crashes ?? 0,
      events: history.sends.length,
    };
  }

  private async publish(kind: number): Promise<string> {
    const id = `sim${kind}`;
    if (this.published.has(kind)) return id;
    if (!(await this.store.findChart(id))) {
      const runtime = createRuntime({ store: this.store, report: () => undefined });
      const { revision } = await runtime.createChart(actor, {
        id,
        text: JSON.stringify(simulatedChart(kind)),
      });
      await runtime.publishVersion(actor, { chartId: id, revision });
    }
    this.published.add(kind);
    return id;
  }

  /** So that no later seed finds something to do here. */
  private async clear({ instanceIds, lockKeys }: History): Promise<void> {
    const runtime = createRuntime({ store: this.store, report: () => undefined });
    await this.store.transaction((tx) => tx.removeSilentWorkers(Number.MAX_SAFE_INTEGER));
    for (const instanceId of instanceIds) {
      await runtime.deleteInstance(actor, { instanceId }).catch(() => undefined);
    }
    for (const key of lockKeys) {
      await this.store.transaction(async (tx) => {
        const row = await tx.lockLockIfAny(key);
        if (!row) return;
        const book = openLockBook(row, await tx.readWaiters(key), await tx.now(), actor.id);
        deleteLock(book, "the seed is over");
        await tx.writeLock({ ...book.writes(), answer: null });
      });
    }
  }
}

async function live(
  world: World,
  { history, charts, options }: { history: History; charts: string[]; options: SeedOptions },
): Promise<void> {
  const clients = Array.from(
    { length: options.clients ?? 3 },
    (_, number) => new Client(world, history, charts, number + 1, options),
  );
  let over = false;
  let failure: { error: unknown } | null = null;
  const [first] = world.processes;
  history.instanceIds.forEach((id, index) => {
    first?.runtime.startInstance(actor, { chartId: charts[index % 2] ?? "", id }).catch(() => undefined);
  });
  void Promise.all(clients.map((client) => client.run(options.operations ?? 12))).then(
    () => {
      over = true;
      world.touch();
    },
    (error: unknown) => {
      failure = { error };
      world.touch();
    },
  );
  await world.drive(() => over || failure !== null);
  if (failure) throw (failure as { error: unknown }).error;

  world.note("calm");
  world.faults = false;
  for (const process of [...world.processes]) process.crash();
  await settle(world, history);
  // What sleeps for a while comes due, once.
  world.nowMs += 120_000;
  await settle(world, history);
}

/** Reads the feed of changes beside the clients, from place to place. */
class Follower {
  private readonly store: Store;
  private readonly seen = new Map<string, number>();
  private over = false;

  constructor(
    private readonly world: World,
    private position: string,
  ) {
    const { store, plant } = world.options;
    this.store = plant ? plant(store, world) : store;
    void this.follow();
  }

  private async follow(): Promise<void> {
    while (!this.over && this.world.faults) {
      await this.world.hold(null, "follows");
      const call = { rests: "no", pid: null } as const;
      this.world.underWay.add(call);
      await this.look().finally(() => this.world.underWay.delete(call));
    }
  }

  private async look(): Promise<number> {
    const { changes, position } = await this.store.changesSince(this.position, 1_000);
    this.position = position;
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
    const giveUpAt = Date.now() + 5_000;
    for (const id of instanceIds) {
      const written = (await store.findInstance(id))?.seq ?? 0;
      while ((this.seen.get(id) ?? 0) < written && Date.now() < giveUpAt) {
        if ((await this.look()) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const seen = this.seen.get(id) ?? 0;
      if (seen !== written) wrong.push(`the feed has shown ${seen} of ${written} entries of ${id}`);
    }
    return wrong;
  }
}

/** A dead process's transaction may hold a row for a round still; after ten rounds it is a fault. */
async function settle(world: World, { instanceIds }: History): Promise<void> {
  for (let round = 0; round < 10; round += 1) {
    await world.calm();
    const { found } = await world.options.store.findRunnable(world.nowMs, "");
    if (!found.some(({ id }) => instanceIds.includes(id))) return;
  }
}

const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ""}` : String(error);
