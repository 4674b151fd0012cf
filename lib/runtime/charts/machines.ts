/**
 * Compiled chart versions, kept by this process. A version never changes, so what is here is never stale.
 *
 * Holds: nothing is loaded inside a transaction (it would take a second connection while holding one): a step that needs
 *        a version that isn't here ends with MachineMissing, and withMachines loads it and runs the step again.
 */
import { LockstepError } from "@/lib/base/errors";
import { compile } from "@/lib/statechart/compile";
import type { Chart } from "@/lib/statechart/document";
import type { Machine } from "@/lib/statechart/machine";
import type { Store } from "@/lib/store/store";

export interface VersionName {
  chartId: string;
  version: number;
}

/** A compiled chart is some 100 KB; this many are kept. */
const machinesMax = 200;

export class MachineMissing extends Error {
  override name = "MachineMissing";
  constructor(readonly wanted: VersionName) {
    super(`chart ${wanted.chartId} version ${wanted.version} is not loaded`);
  }
}

export class Machines {
  private readonly kept = new Map<string, Machine>();
  constructor(private readonly store: Store) {}

  /** Throws MachineMissing. */
  get(wanted: VersionName): Machine {
    const key = keyOf(wanted);
    const machine = this.kept.get(key);
    if (!machine) throw new MachineMissing(wanted);
    // To the end: the first one is the least recently used.
    this.kept.delete(key);
    this.kept.set(key, machine);
    return machine;
  }

  /** Throws `version-not-found`. Call it outside transactions. */
  async load(wanted: VersionName): Promise<Machine> {
    const key = keyOf(wanted);
    const known = this.kept.get(key);
    if (known) return known;
    const row = await this.store.findVersion(wanted.chartId, wanted.version);
    if (!row) throw versionNotFound(wanted);
    const machine = compile(JSON.parse(row.text) as Chart);
    this.kept.set(key, machine);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= machinesMax) break;
      this.kept.delete(oldest);
    }
    return machine;
  }
}

/** Runs `work` again after loading what it misses. */
export async function withMachines<T>(machines: Machines, work: () => Promise<T>): Promise<T> {
  // A batch misses at most as many versions as it has instances.
  for (let loads = 0; ; loads += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof MachineMissing) || loads >= 1000) throw error;
      await machines.load(error.wanted);
    }
  }
}

export const versionNotFound = ({ chartId, version }: VersionName): LockstepError =>
  new LockstepError("version-not-found", `Chart ${chartId} has no version ${version}.`, {
    details: { chartId, version },
  });

const keyOf = ({ chartId, version }: VersionName): string => `${chartId}@${version}`;
