/**
 * A new instance: its first entry, and all that it caused, in one transaction.
 *
 * Holds: I4 with an idempotency key (scope: caller and chart) it is started once and a repeat gets the first answer.
 *        A deleted id may be used again: its seq goes on, its incarnation is new.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { LabelRow } from "@/lib/store/instances";
import { noWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import { beginInstance } from "./begin-instance";
import type { Idempotent } from "../call";
import { chartNotFound } from "../charts/get-chart";
import { waitsBegun, waitsOf } from "./conditions";
import { blockerOf, viewInstance, type Fence, type InstanceView } from "./instance-views";
import { versionNotFound, withMachines, type VersionName } from "../charts/machines";
import { instanceExists } from "@/lib/store/steps";
import { fencedTransaction, type FenceCheck } from "../locks/fenced";
import { digestOf } from "../kept-answer";
import { newInstanceId } from "../new-id";
import { requireLabels, requirePayload, requirePriority, requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { keyReuse } from "../refusals";
import type { RecentRow } from "../stepping/recent-rows";
import { postOutgoing } from "../stepping/step-batch";

export interface StartInstanceArgs extends Idempotent {
  chartId: string;
  version?: number | undefined;
  id?: string | undefined;
  input?: Json | undefined;
  businessKey?: string | undefined;
  labels?: Record<string, string> | undefined;
  priority?: number | undefined;
  /** Locks that the caller must still hold. */
  fences?: Fence[] | undefined;
}

/**
 * `queued` while another instance of the chart has its concurrency key.
 *
 * Throws `not-found` (chart), `version-not-found`, `instance-exists`, `stale-fence`, `idempotency-key-reuse`,
 * `payload-too-large`.
 */
export async function startInstance(
  context: RuntimeContext,
  actor: Actor,
  args: StartInstanceArgs,
): Promise<InstanceView> {
  requirePermission(actor, "instances:start");
  requireOpen(context);
  const input = requirePayload(args.input ?? null, "input");
  requireLabels(args.labels ?? {}, "labels");
  if (args.businessKey !== undefined) requireText(args.businessKey, "businessKey");
  requirePriority(args.priority ?? 0, "priority");
  const wanted = await chooseVersion(context, args);
  // What the first step sees is what is stored.
  const start = args.input === undefined ? args : { ...args, input: JSON.parse(input) as Json };
  const { view, begun } = await withMachines(context.machines, () =>
    fencedTransaction(context.store, actor, (tx, check) => startIn(context, tx, actor, start, wanted, check)),
  );
  if (begun) context.sends.recents.remember(begun, begun.now);
  if (view.pending > 0) context.wake();
  context.settle();
  return view.status === "queued" ? withWaits(context, view) : view;
}

/** What its key is, and who has it. */
async function withWaits({ store }: RuntimeContext, view: InstanceView): Promise<InstanceView> {
  const { held, conditions } = await waitsOf(store, [view]);
  return { ...view, blockedBy: blockerOf(view, held), conditions: [...(conditions.get(view.id) ?? [])] };
}

/** The version named, else the newest. It is loaded here, so that the transaction finds it. */
export async function chooseVersion(
  { store, machines }: RuntimeContext,
  args: { chartId: string; version?: number | undefined },
): Promise<VersionName> {
  const chart = await store.findChart(args.chartId);
  if (!chart) throw chartNotFound(args.chartId);
  const version = args.version ?? chart.version;
  if (version === null) {
    throw new LockstepError(
      "version-not-found",
      `Chart ${args.chartId} has no published version yet. Publish it, then start instances.`,
      { details: { chartId: args.chartId } },
    );
  }
  const wanted = { chartId: args.chartId, version };
  if (args.version !== undefined && args.version > (chart.version ?? 0)) throw versionNotFound(wanted);
  await machines.load(wanted);
  return wanted;
}

/** As startInstance, in a transaction of the caller, who has loaded `wanted`. `begun`: null when it had begun before. */
export async function startIn(
  context: RuntimeContext,
  tx: StoreTransaction,
  actor: Actor,
  args: StartInstanceArgs,
  wanted: VersionName,
  check?: FenceCheck,
): Promise<{ view: InstanceView; begun: (RecentRow & { now: number }) | null }> {
  const { idempotencyKey, ...rest } = args;
  const claim = {
    scope: `start:${args.chartId}:${actor.id}`,
    key: idempotencyKey ?? "",
    digest: digestOf(rest),
    messageId: null,
    result: null,
    at: 0,
  };
  if (idempotencyKey !== undefined) {
    const found = await tx.claimAnswer({ ...claim, at: await tx.now() });
    if (found && found.digest !== claim.digest) throw keyReuse(idempotencyKey);
    if (found?.result) return { view: JSON.parse(found.result) as InstanceView, begun: null };
  }
  const id = args.id === undefined ? newInstanceId(args.chartId) : requireText(args.id, "id");
  const [before] = await tx.lockInstances([id]);
  if (before && before.deletedAt === null) throw instanceExists(id);
  await check?.(tx, args.fences, { instanceId: id, type: "start" });
  const now = await tx.now();

  const writes = noWrites();
  const begun = {
    ...wanted,
    id,
    input: args.input ?? null,
    priority: args.priority ?? 0,
    businessKey: args.businessKey ?? null,
    parent: null,
    actor: actor.id,
    cause: null,
    dedupeKey: idempotencyKey ?? null,
  };
  const turn = await beginInstance(tx, context.machines.get(wanted), begun, now, before, writes);
  const labels: LabelRow[] = Object.entries(args.labels ?? {}).map(([key, value]) => ({
    instanceId: id,
    key,
    value,
  }));
  writes.labels.push(...labels);
  await postOutgoing(tx, [turn], writes);
  const view = viewInstance(turn.row, labels, writes.enqueued.length, waitsBegun(turn.row, writes));
  if (idempotencyKey !== undefined) {
    writes.answered.push({ scope: claim.scope, key: claim.key, result: JSON.stringify(view), at: now });
  }
  await tx.writeSteps(writes);
  return { view, begun: { row: turn.row, snapshot: turn.snapshot, now } };
}
