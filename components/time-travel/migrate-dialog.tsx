"use client";
/**
 * Moves an instance to another published version: what that means for each active state is asked of the server with every
 * choice, before anything is done.
 *
 * Holds: what is shown is the dry run of exactly what is sent; an instance that moves on meanwhile is not migrated unseen.
 */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowRight, Ban, Check, CircleHelp, Workflow, type LucideIcon } from "lucide-react";
import type { Route } from "next";
import Link from "next/link";
import { useMemo, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { Chip, type Tone } from "@/components/ui/chip";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog, FooterHint } from "@/components/ui/dialog";
import { Field, Input, Select } from "@/components/ui/field";
import { queryKeys } from "@/components/ui/query-keys";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatAbsolute } from "@/components/ui/time";
import { useZone } from "@/components/ui/time-zone";
import { useCall } from "@/components/ui/use-call";
import { useCallKey } from "@/components/ui/use-call-key";
import { useClient } from "@/components/ui/use-client";
import { LockstepError } from "@/lib/base/errors";
import { curlOf } from "@/lib/client/curl-of";
import type { InstanceView, MigrateResult, MigrationVerdict } from "@/lib/contract/instances";
import { migrationHint, migrationTitle, planRows, restable } from "./migration-words";
import { StatePicker } from "./state-picker";
import { useChartVersion } from "./use-chart-version";

export function MigrateDialog({
  instance,
  onClose,
  onDone,
}: {
  instance: InstanceView;
  onClose: () => void;
  onDone: (result: MigrateResult) => void;
}) {
  const client = useClient();
  const queryClient = useQueryClient();
  const { zone } = useZone();
  const [chosen, setChosen] = useState<number | null>(null);
  const [mapping, setMapping] = useState<Record<string, string>>({});
  const [reason, setReason] = useState("");
  const reasonField = useRef<HTMLInputElement>(null);
  const keyOf = useCallKey();
  const chart = useQuery({
    queryKey: queryKeys.chart(instance.chartId),
    queryFn: ({ signal }) => client.getChart({ chartId: instance.chartId }, { signal }),
  });
  const versions = (chart.data?.versions ?? [])
    .filter(({ version }) => version !== instance.version)
    .sort((a, b) => b.version - a.version);
  const version = chosen ?? versions[0]?.version ?? null;
  const target = useChartVersion(instance.chartId, version ?? undefined);
  const states = useMemo(() => (target.version ? restable(target.version.tree) : []), [target.version]);
  const given = reason.trim();
  const args = { instanceId: instance.id, version: version ?? 0, mapping, expectedSeq: instance.seq };
  const plan = useQuery({
    queryKey: [...queryKeys.instance(instance.id), "migration", version, mapping, instance.seq],
    queryFn: ({ signal }) => client.migrateInstance({ ...args, reason: "dry run", dryRun: true }, { signal }),
    enabled: version !== null,
    placeholderData: keepPreviousData,
  });
  const migrate = useCall({
    mutationFn: () =>
      client.migrateInstance({ ...args, reason: given }, { idempotencyKey: keyOf({ ...args, given }) }),
    onSuccess: (result) => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.instances });
      void queryClient.invalidateQueries({ queryKey: queryKeys.instance(instance.id) });
      onDone(result);
    },
  });
  const isCurrent = plan.data !== undefined && !plan.isPlaceholderData;
  const verdict = plan.data?.plan.verdict ?? null;
  const hint = migrationHint(isCurrent ? verdict : null, given);
  const reasonError = fieldOf(migrate.error) === "reason" ? (migrate.error?.message ?? null) : null;
  const none = chart.data !== undefined && versions.length === 0;
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={
        <span className="min-w-0 break-words">
          Migrate <span className="font-mono">{instance.id}</span>
        </span>
      }
      description={
        <>
          It is on <strong className="font-semibold">v{instance.version}</strong> of {instance.chartId}, at #
          {instance.seq}. State, data and what waits go along.
        </>
      }
      width={600}
      testId="migrate-dialog"
      footer={
        none ? (
          <Button onClick={onClose}>Back</Button>
        ) : (
          <>
            <CopyCurl
              variant="link"
              className="mr-auto"
              line={() =>
                curlOf("migrateInstance", { ...args, reason: given }, { baseUrl: window.location.origin })
              }
            />
            {hint ? <FooterHint testId="migrate-hint">{hint}</FooterHint> : null}
            <Button onClick={onClose}>Back</Button>
            <Button
              variant="ink"
              disabled={hint !== null || migrate.isPending}
              onClick={() => migrate.mutate()}
              data-testid="migrate-submit"
            >
              {migrate.isPending ? "Migrating…" : `Migrate to v${version ?? ""}`}
            </Button>
          </>
        )
      }
    >
      {chart.error ? (
        <ErrorPanel
          title={`Couldn’t read the versions of ${instance.chartId}`}
          error={chart.error}
          onRetry={() => void chart.refetch()}
        />
      ) : none ? (
        <Empty
          icon={Workflow}
          title={`${instance.chartId} has no other version`}
          action={
            <Button asChild>
              <Link href={`/charts/${encodeURIComponent(instance.chartId)}` as Route}>Open the chart</Link>
            </Button>
          }
        >
          Publish one, then instances can be moved to it.
        </Empty>
      ) : (
        <>
          <Field label="To version">
            {(wiring) => (
              <Select
                {...wiring}
                value={version ?? ""}
                data-testid="migrate-version"
                onChange={(event) => {
                  setChosen(Number(event.target.value));
                  setMapping({});
                }}
              >
                {chart.data ? null : <option value="">Reading the versions…</option>}
                {versions.map((one) => (
                  <option key={one.version} value={one.version}>
                    v{one.version} · {formatAbsolute(one.publishedAt, zone)}
                    {one.note ? ` · ${one.note.slice(0, 80)}` : ""}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          {plan.error ? (
            <ErrorPanel
              className="mt-3.5"
              title="Couldn’t find out what it would mean"
              error={plan.error}
              onRetry={() => void plan.refetch()}
            />
          ) : plan.data ? (
            <Plan
              result={plan.data}
              states={states}
              mapping={mapping}
              onMap={(from, to) => {
                const others = Object.entries(mapping).filter(([state]) => state !== from);
                setMapping(Object.fromEntries(from === to ? others : [...others, [from, to]]));
              }}
            />
          ) : (
            <SkeletonRows rows={3} rowHeight={48} />
          )}
          <Field className="mt-4" label="Reason" hint="kept in its log and in the audit" error={reasonError}>
            {(wiring) => (
              <Input
                {...wiring}
                ref={reasonField}
                value={reason}
                maxLength={1000}
                data-testid="migrate-reason"
                onChange={(event) => setReason(event.target.value)}
              />
            )}
          </Field>
          {migrate.error && !reasonError ? (
            <ErrorPanel className="mt-3.5" title={`Couldn’t migrate ${instance.id}`} error={migrate.error} />
          ) : null}
        </>
      )}
    </Dialog>
  );
}

const verdicts: Record<MigrationVerdict, { word: string; tone: Tone; icon: LucideIcon }> = {
  ok: { word: "ok", tone: "neutral", icon: Check },
  "needs-mapping": { word: "needs mapping", tone: "exited", icon: CircleHelp },
  blocked: { word: "blocked", tone: "failed", icon: Ban },
};

function Plan({
  result: { plan, configuration },
  states,
  mapping,
  onMap,
}: {
  result: MigrateResult;
  states: readonly string[];
  mapping: Readonly<Record<string, string>>;
  onMap: (from: string, to: string) => void;
}) {
  const { rows, blocks } = planRows(plan);
  return (
    <section className="mt-4" aria-label="What it would mean" data-testid="migrate-plan">
      <h3 className="mb-1 text-hint font-medium">
        {migrationTitle(plan)}
        <span className="ml-1.5 font-normal text-text-3">dry run, nothing is done yet</span>
      </h3>
      <ul>
        {rows.map(({ state, to, verdict, whys }, index) => {
          const { word, tone, icon } = verdicts[verdict];
          const whyId = `migrate-why-${index}`;
          return (
            <li
              key={state}
              data-testid="migrate-state"
              className="grid grid-cols-[minmax(0,1fr)_auto_minmax(0,1.2fr)_auto] items-center gap-x-2.5 gap-y-1 border-t border-border py-2 max-sm:grid-cols-[auto_minmax(0,1fr)_auto]"
            >
              <span
                className="min-w-0 truncate font-mono text-table font-semibold max-sm:col-span-2 max-sm:row-start-1"
                title={state}
              >
                {state}
              </span>
              <ArrowRight
                size={13}
                aria-hidden
                className="text-text-3 max-sm:col-start-1 max-sm:row-start-2"
              />
              <div className="min-w-0 max-sm:col-span-2 max-sm:col-start-2 max-sm:row-start-2">
                <StatePicker
                  label={`State for ${state}`}
                  states={states}
                  value={mapping[state] ?? to}
                  onChange={(next) => onMap(state, next)}
                  invalid={verdict !== "ok"}
                  describedBy={whys.length === 0 ? undefined : whyId}
                  testId="migrate-pick"
                />
              </div>
              <Chip
                tone={tone}
                icon={icon}
                outline={verdict === "needs-mapping"}
                className="justify-self-end max-sm:col-start-3 max-sm:row-start-1"
              >
                {word}
              </Chip>
              {whys.length === 0 ? null : (
                <p id={whyId} className="col-span-full text-hint break-words text-text-2">
                  {whys.map(sentence).join(" ")}
                </p>
              )}
            </li>
          );
        })}
        {blocks.map(({ state, whys }) => (
          <li key={`blocked ${state}`} data-testid="migrate-blocked" className="border-t border-border py-2">
            <div className="flex items-center gap-2.5">
              <span className="min-w-0 flex-1 truncate font-mono text-table font-semibold" title={state}>
                {state}
              </span>
              <Chip tone="failed" icon={Ban}>
                blocked
              </Chip>
            </div>
            <p className="mt-1 text-hint break-words text-text-2">{whys.map(sentence).join(" ")}</p>
          </li>
        ))}
        {configuration.length === 0 && rows.length === 0 && blocks.length === 0 ? (
          <li className="border-t border-border py-2 text-body text-text-2">No state is active.</li>
        ) : null}
      </ul>
      <Also label="Timers that go" names={plan.timersDropped.map((key) => `after ${key}`)} />
      <Also label="New in its data, with first values" names={plan.contextAdded} />
    </section>
  );
}

function Also({ label, names }: { label: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <p className="border-t border-border py-2 text-body text-text-2">
      {label}: <span className="font-mono text-table break-words text-text">{names.join(", ")}</span>
    </p>
  );
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const fieldOf = (error: Error | null): unknown =>
  error instanceof LockstepError ? error.details["field"] : undefined;
