/**
 * An instance moved to another version of its chart, at rest between two steps; or what that would mean (dry run).
 *
 * Holds: I5 the entry keeps the state as it is afterwards, so that replay needs no plan. Running invocations, timers and the
 *        mailbox go along.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Machine } from "@/lib/statechart/machine";
import type { InstanceRow } from "@/lib/store/instances";
import type { ControlInput } from "./apply-control";
import { findLiveInstance } from "../instances/get-instance";
import { isEnded, parseSnapshot, type InstanceStatus } from "../instances/instance-views";
import { inTurn, type Guarded } from "../stepping/in-turn";
import { newAuditId } from "../new-id";
import { planMigration, requireMapping, statesOf, type MigrationPlan } from "./plan-migration";
import { nothingLeft } from "../refusals";
import { requireText } from "../require-payload";
import type { RuntimeContext } from "../runtime-context";

export interface MigrateInstanceArgs extends Guarded {
  version: number;
  /** Names of active states → their names in the other version, where they differ. */
  mapping?: Record<string, string> | undefined;
  /** Only says what would be done. */
  dryRun?: boolean | undefined;
  reason: string;
}
export interface MigrateInstanceResult {
  instanceId: string;
  /** Of the migration entry; the newest one of a dry run. */
  seq: number;
  status: InstanceStatus;
  version: number;
  configuration: string[];
  plan: MigrationPlan;
  /** False after a dry run. */
  changed: boolean;
  replayed: boolean;
}

/**
 * `ofMany`: the mapping is a batch's, made for instances of several versions: what names no state of this one's is not for it.
 * Throws `not-found`, `version-not-found`, `bad-request` (mapping), `instance-ended`, `migration-refused` {plan} unless the plan is ok.
 */
export async function migrateInstance(
  context: RuntimeContext,
  actor: Actor,
  args: MigrateInstanceArgs,
  ofMany = false,
): Promise<MigrateInstanceResult> {
  requirePermission(actor, "instances:control");
  requireText(args.reason, "reason");
  const found = await findLiveInstance(context.store, args.instanceId);
  const target = { chartId: found.chartId, version: args.version };
  const machine = await context.machines.load(target);
  const mapping = args.mapping ?? {};
  const planFor = (from: Machine, row: InstanceRow, at: number) => {
    const names = statesOf(from);
    requireMapping(
      ofMany ? Object.fromEntries(Object.entries(mapping).filter(([state]) => names.has(state))) : mapping,
      { lacking: `version ${row.version} has no state`, names },
      { lacking: `version ${args.version} has no state`, names: statesOf(machine) },
    );
    return planMigration(machine, parseSnapshot(row.snapshot), mapping, { at, seq: row.seq + 1 });
  };
  const versionOf = ({ chartId, version }: InstanceRow) => ({ chartId, version });
  if (args.dryRun) {
    if (isEnded(found.status)) throw nothingLeft(found, "migrate");
    const from = await context.machines.load(versionOf(found));
    const { plan } = planFor(from, found, await context.store.now());
    return {
      instanceId: found.id,
      seq: found.seq,
      status: found.status as InstanceStatus,
      version: found.version,
      configuration: JSON.parse(found.configuration) as string[],
      plan,
      changed: false,
      replayed: false,
    };
  }
  return inTurn(context, {
    verb: "migrate",
    actor,
    args,
    version: args.version,
    async work({ tx, row, now, turn }) {
      if (isEnded(row.status)) throw nothingLeft(row, "migrate");
      const { plan, snapshot } = planFor(context.machines.get(versionOf(row)), row, Math.max(now, row.at));
      if (!snapshot) throw migrationRefused(row, args.version, plan);
      const data = { reason: args.reason, from: row.version, to: args.version, mapping };
      const input: ControlInput = { kind: "control", verb: "migrate", data, snapshot };
      turn.place({ input, actor: actor.id, kind: "migration", version: args.version });
      await tx.writeAudit({
        id: newAuditId(),
        at: now,
        actor: actor.id,
        action: "migrate-instance",
        target: `instance:${row.id}`,
        outcome: "done",
        details: JSON.stringify({ seq: row.seq + 1, ...data }),
      });
      return () => ({
        instanceId: row.id,
        seq: row.seq + 1,
        status: turn.row.status as InstanceStatus,
        version: args.version,
        configuration: turn.snapshot.configuration,
        plan,
        changed: true,
        replayed: false,
      });
    },
  });
}

const migrationRefused = (row: InstanceRow, version: number, plan: MigrationPlan): LockstepError => {
  const first = plan.states.find(({ verdict }) => verdict === plan.verdict);
  return new LockstepError(
    "migration-refused",
    `Instance ${row.id} was not moved to version ${version}: ${first?.state ?? ""} ${plan.verdict === "blocked" ? "is blocked" : "needs a mapping"} (${first?.why ?? ""}).`,
    { details: { instanceId: row.id, version, verdict: plan.verdict, states: plan.states } },
  );
};
