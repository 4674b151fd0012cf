/**
 * The instances that there were at a time, and what each was in: in the order of ids, a page at a time.
 *
 * Holds: one that has not moved since is as it is stored; another's state is rebuilt from its log (I5). So many are looked at
 *        for a page and no more, however few of them match: a page may be short, and its cursor goes on.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { activeStates } from "@/lib/statechart/active-states";
import { must } from "@/lib/base/assert";
import type { InstanceThen } from "@/lib/store/fleet";
import { cursorOf, pageLimit, readCursor, type Page, type PageArgs } from "../call";
import { configurationOf, type InstanceStatus } from "../instances/instance-views";
import { rebuildState } from "../instances/rebuild-state";
import type { RuntimeContext } from "../runtime-context";

export interface ListFleetArgs extends PageArgs {
  /** Default: now. */
  at?: number | undefined;
  chartId?: string | undefined;
  /** A name of an active state, compound ones among them. */
  state?: string | undefined;
  status?: InstanceStatus | undefined;
}
export interface FleetInstance {
  id: string;
  /** Of its newest entry then. */
  seq: number;
  /** When that was made. */
  at: number;
  chartId: string;
  version: number;
  status: InstanceStatus;
  configuration: string[];
}
export interface FleetPage extends Page<FleetInstance> {
  at: number;
  /** Those looked at that had no entry yet, waiting for a concurrency key, or of whose log retention has removed that time. */
  unknown: number;
}

/** Of the instances that a page's are among. */
const walkedMax = 5_000;
/** Whose state is rebuilt, at most. */
const lookedMax = 200;

/** Throws `bad-request` (cursor). */
export async function listFleet(
  context: RuntimeContext,
  actor: Actor,
  args: ListFleetArgs,
): Promise<FleetPage> {
  requirePermission(actor, "instances:read");
  const { store } = context;
  const limit = pageLimit(args.limit);
  const now = await store.now();
  const at = Math.min(args.at ?? now, now);
  const after = readCursor(args.cursor, { id: "" });
  const from = after?.id ?? "";
  const upTo = await store.idAhead(from, walkedMax);
  const found = await store.instancesAt(at, args.chartId, { after: from, upTo }, lookedMax + 1);
  const items: FleetInstance[] = [];
  let unknown = 0;
  let looked = 0;
  while (looked < Math.min(found.length, lookedMax) && items.length < limit) {
    const then = await lookAt(context, must(found[looked], "one of those found"), at);
    looked += 1;
    if (then === "unknown") unknown += 1;
    else if (then && (await matches(context, args, then))) items.push(then);
  }
  const last = looked < found.length ? must(found[looked - 1], "one that was looked at").id : upTo;
  return { at, items, unknown, nextCursor: last === null ? null : cursorOf({ id: last }) };
}

/** Null: there was none of that id. */
async function lookAt(
  { store, machines }: RuntimeContext,
  row: InstanceThen,
  time: number,
): Promise<FleetInstance | "unknown" | null> {
  const { id, seq, entryAt: at, chartId, version } = row;
  if (row.hasMoved === 0) {
    if (row.deletedAt !== null) return row.deletedAt <= time ? null : "unknown";
    const status = row.status as InstanceStatus;
    return { id, seq, at, chartId, version, status, configuration: configurationOf(row) };
  }
  if (seq === 0) return row.createdAt <= time ? "unknown" : null;
  const rebuilt = await rebuildState(store, machines, id, seq);
  if (!rebuilt) return "unknown";
  const { entry, snapshot } = rebuilt;
  // The entry of a deletion is the last of its life.
  if (entry.kind === "deleted") return null;
  return {
    id,
    seq,
    at: entry.at,
    chartId: entry.chartId,
    version: entry.version,
    status: entry.status as InstanceStatus,
    configuration: snapshot.configuration,
  };
}

async function matches(
  { machines }: RuntimeContext,
  { chartId, status, state }: ListFleetArgs,
  then: FleetInstance,
): Promise<boolean> {
  if (then.chartId !== (chartId ?? then.chartId) || then.status !== (status ?? then.status)) return false;
  if (state === undefined) return true;
  return activeStates(await machines.load(then), then.configuration).includes(state);
}
