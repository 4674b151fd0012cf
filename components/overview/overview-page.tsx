"use client";
/**
 * What needs a person now, and how much runs. Every number is counted by the server; a room that does not exist is not
 * promised here.
 */
import { useQueries, useQuery } from "@tanstack/react-query";
import {
  CircleCheck,
  CircleX,
  ClockAlert,
  Flag,
  TimerOff,
  TriangleAlert,
  type LucideIcon,
} from "lucide-react";
import type { Route } from "next";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useState, type ReactNode } from "react";
import { shortStates } from "@/components/instances/state-name";
import { StatusChip } from "@/components/instances/status-chip";
import { useDatabaseNow } from "@/components/locks/use-database-now";
import { Button } from "@/components/ui/button";
import { CountBadge } from "@/components/ui/chip";
import { cn } from "@/components/ui/class-names";
import { Kbd } from "@/components/ui/kbd";
import { LiveChip } from "@/components/ui/live-chip";
import { PageHeader } from "@/components/ui/page-header";
import { queryKeys } from "@/components/ui/query-keys";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatAge, formatCount } from "@/components/ui/time";
import { RelativeTime } from "@/components/ui/time-text";
import { useClient } from "@/components/ui/use-client";
import { useKeys } from "@/components/ui/use-keys";
import { ZoneSwitch } from "@/components/ui/zone-switch";
import type { ChartSummary } from "@/lib/contract/charts";
import type { LockSummary } from "@/lib/contract/locks";
import { attentionRows, longWaitedFree, type AttentionRow, type WatchedLock } from "./attention";

const readMax = 50;
const rowsShown = 8;
const recentShown = 8;
const liveStatuses = ["running", "queued", "suspended", "cancelling", "compensating", "stuck"];

export function OverviewPage() {
  const client = useClient();
  const charts = useQuery({ queryKey: queryKeys.charts, queryFn: () => client.listCharts() });
  const failed = useInstancesWith("failed");
  const stuck = useInstancesWith("stuck");
  const locks = useQuery({
    queryKey: [...queryKeys.locks, "overview"],
    queryFn: () => client.listLocks({ limit: readMax }),
  });
  const recent = useQuery({
    queryKey: [...queryKeys.instances, "overview"],
    queryFn: () => client.listInstances({ limit: recentShown }),
  });
  const now = useDatabaseNow(locks.data, locks.dataUpdatedAt);
  const watched = useQueues(locks.data?.items ?? []);
  const counts = charts.data ? sumByStatus(charts.data.items) : null;
  const live = counts ? liveStatuses.reduce((sum, status) => sum + (counts[status] ?? 0), 0) : null;
  const error = [failed, stuck, locks, charts, recent].find((query) => query.error && !query.data)?.error;
  const retry = (): void => {
    for (const query of [failed, stuck, locks, charts, recent]) if (query.error) void query.refetch();
  };
  const ready = failed.data && stuck.data && locks.data && now !== null;
  const rows = ready ? attentionRows([...stuck.data.items, ...failed.data.items], watched, now) : null;

  return (
    <>
      <PageHeader
        title="Overview"
        subtitle={
          live !== null && locks.data
            ? `${formatCount(live)} live ${live === 1 ? "instance" : "instances"} · ${formatCount(locks.data.held)} ${locks.data.held === 1 ? "lock" : "locks"} held`
            : undefined
        }
        actions={
          <>
            <LiveChip />
            <ZoneSwitch />
          </>
        }
      />
      <div className="min-h-0 flex-1 overflow-y-auto p-5">
        <div className="mx-auto grid max-w-[1240px] gap-3.5">
          {error ? <ErrorPanel title="Couldn’t read everything" error={error} onRetry={retry} /> : null}
          <Attention rows={rows} now={now} />
          <div className="grid grid-cols-3 gap-3.5 max-lg:grid-cols-1">
            <Card title="Instances" href="/instances" number={live} unit="live">
              {counts ? <StatusBar counts={counts} /> : null}
            </Card>
            <Card title="Locks" href="/locks" number={locks.data?.held ?? null} unit="held">
              {locks.data ? (
                <p className="text-body text-text-2">
                  {locks.data.waiting === 0
                    ? "Nobody waits for a lock."
                    : `${formatCount(locks.data.waiting)} ${locks.data.waiting === 1 ? "waiter" : "waiters"} in queues.`}
                </p>
              ) : null}
            </Card>
            <Card
              title="Charts"
              href="/charts"
              number={charts.data?.items.length ?? null}
              unit="in the library"
            >
              {charts.data ? (
                <p className="text-body text-text-2">{publishedWords(charts.data.items)}</p>
              ) : null}
            </Card>
          </div>
          <section className="overflow-hidden rounded-card border border-border bg-surface">
            <CardHead title="Newest instances">
              <Link href="/instances" className="rounded-chip text-body text-accent hover:underline">
                All instances
              </Link>
            </CardHead>
            {!recent.data ? (
              <SkeletonRows rows={4} />
            ) : recent.data.items.length === 0 ? (
              <Empty
                icon={CircleCheck}
                title="Nothing runs yet"
                action={
                  <Button asChild>
                    <Link href={"/charts"}>Open the charts</Link>
                  </Button>
                }
              >
                Draw or import a chart, publish it, then start an instance of it.
              </Empty>
            ) : (
              <ul>
                {recent.data.items.map((instance) => (
                  <li
                    key={instance.id}
                    className="grid h-8 grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)_112px_minmax(0,1.4fr)_120px] items-center gap-4 border-t border-border px-3.5 text-table"
                  >
                    <Link
                      href={`/instances/${encodeURIComponent(instance.id)}` as Route}
                      className="truncate rounded-chip font-mono font-semibold hover:underline"
                    >
                      {instance.id}
                    </Link>
                    <span className="truncate">
                      {instance.chartId} <span className="text-text-3">v{instance.version}</span>
                    </span>
                    <span>
                      <StatusChip status={instance.status} />
                    </span>
                    <span className="truncate" title={instance.configuration.join(", ")}>
                      {shortStates(instance.configuration)}
                    </span>
                    <span className="truncate text-right text-text-2 tabular-nums">
                      <RelativeTime at={instance.updatedAt} />
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </section>
        </div>
      </div>
    </>
  );
}

function useInstancesWith(status: "failed" | "stuck") {
  const client = useClient();
  return useQuery({
    queryKey: [...queryKeys.instances, "overview", status],
    queryFn: () => client.listInstances({ status, limit: readMax }),
  });
}

/** With the queues of those that are free and long waited for, as many as rows are shown. */
function useQueues(locks: readonly LockSummary[]): WatchedLock[] {
  const client = useClient();
  const queues = useQueries({
    queries: longWaitedFree(locks)
      .slice(0, rowsShown)
      .map(({ key }) => ({
        queryKey: queryKeys.lock(key),
        queryFn: ({ signal }: { signal: AbortSignal }) => client.getLock({ key }, { signal }),
      })),
    combine: (all) => new Map(all.flatMap(({ data }) => (data ? [[data.key, data.queue] as const] : []))),
  });
  return locks.map((lock) => ({ ...lock, queue: queues.get(lock.key) }));
}

const looks: Record<AttentionRow["kind"], { icon: LucideIcon; word: string; tone: string }> = {
  stuck: { icon: TriangleAlert, word: "Stuck", tone: "text-failed" },
  failed: { icon: CircleX, word: "Failed", tone: "text-failed" },
  finished: { icon: Flag, word: "Holder finished", tone: "text-exited" },
  expired: { icon: TimerOff, word: "Expired lock", tone: "text-exited" },
  waits: { icon: ClockAlert, word: "Long lock wait", tone: "text-exited" },
};

function Attention({ rows, now }: { rows: AttentionRow[] | null; now: number | null }) {
  const router = useRouter();
  const [active, setActive] = useState<number | null>(null);
  const shown = rows?.slice(0, rowsShown) ?? [];
  const move = (step: number): void =>
    setActive((at) =>
      shown.length === 0 ? null : Math.min(shown.length - 1, Math.max(0, at === null ? 0 : at + step)),
    );
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: (event) => {
      if (event.target instanceof HTMLElement && event.target.closest("a,button")) {
        event.target.click();
        return;
      }
      const row = active === null ? undefined : shown[active];
      if (row) router.push(row.href);
    },
  });
  return (
    <section className="overflow-hidden rounded-card border border-border bg-surface" data-testid="attention">
      <CardHead
        title="Needs a person now"
        badge={
          rows && rows.length > 0 ? <CountBadge tone="failed">{formatCount(rows.length)}</CountBadge> : null
        }
        hint={
          rows && rows.length > 0 ? "worst first; a row leaves by itself once its cause is gone" : undefined
        }
      >
        {shown.length > 0 ? (
          <span className="flex items-center gap-1 text-body text-text-3">
            <Kbd>J</Kbd>
            <Kbd>K</Kbd> move <Kbd className="ml-1.5">↵</Kbd> open
          </span>
        ) : null}
      </CardHead>
      {!rows ? (
        <SkeletonRows rows={3} rowHeight={35} />
      ) : rows.length === 0 ? (
        <p
          className="flex items-center gap-2 border-t border-border px-3.5 py-3 text-text-2"
          data-testid="all-well"
        >
          <CircleCheck size={15} aria-hidden className="text-active" />
          Nothing: no instance failed or is stuck, no lock has outlived its holder or lease.
        </p>
      ) : (
        <ul>
          {shown.map((row, index) => {
            const look = looks[row.kind];
            return (
              <li
                key={`${row.kind} ${row.subject}`}
                data-testid="attention-row"
                className={cn(
                  "grid h-[35px] grid-cols-[20px_116px_minmax(0,5fr)_minmax(0,4fr)_72px_64px] items-center gap-3 border-t border-border px-3.5",
                  index === active && "bg-surface-2 shadow-[inset_2px_0_0_var(--accent)]",
                )}
              >
                <look.icon size={15} aria-hidden className={look.tone} />
                <span className={cn("truncate font-semibold", look.tone)}>{look.word}</span>
                <span className="truncate" title={`${row.subject} ${row.text}`}>
                  <span className="font-mono text-table font-semibold">{row.subject}</span> {row.text}
                </span>
                <span className="truncate text-text-2" title={row.why}>
                  {row.why}
                </span>
                <span className="text-right text-text-2 tabular-nums">
                  {row.since === null || now === null ? "" : formatAge(now - row.since)}
                </span>
                <span className="text-right">
                  <Button asChild size="sm">
                    <Link href={row.href} aria-label={`Open ${row.subject}`}>
                      Open
                    </Link>
                  </Button>
                </span>
              </li>
            );
          })}
          {rows.length > shown.length ? (
            <li className="border-t border-border px-3.5 py-2 text-text-2">
              {formatCount(rows.length - shown.length)} more, among{" "}
              <Link href={"/instances?status=failed"} className="rounded-chip text-accent hover:underline">
                failed instances
              </Link>{" "}
              and{" "}
              <Link href={"/locks"} className="rounded-chip text-accent hover:underline">
                locks
              </Link>
              .
            </li>
          ) : null}
        </ul>
      )}
    </section>
  );
}

function CardHead({
  title,
  badge,
  hint,
  children,
}: {
  title: string;
  badge?: ReactNode;
  hint?: string | undefined;
  children?: ReactNode;
}) {
  return (
    <header className="flex h-[38px] items-center gap-2.5 px-3.5">
      <h2 className="text-title font-semibold">{title}</h2>
      {badge}
      {hint ? <span className="min-w-0 truncate text-body text-text-3">{hint}</span> : null}
      <div className="ml-auto shrink-0">{children}</div>
    </header>
  );
}

function Card({
  title,
  href,
  number,
  unit,
  children,
}: {
  title: string;
  href: string;
  number: number | null;
  unit: string;
  children: ReactNode;
}) {
  return (
    <section className="rounded-card border border-border bg-surface px-3.5 pt-2.5 pb-3.5">
      <h2 className="text-hint font-medium text-text-2">
        <Link href={href} className="rounded-chip hover:underline">
          {title}
        </Link>
      </h2>
      <p className="mb-1.5 flex items-baseline gap-1.5">
        <span className="text-headline font-semibold tabular-nums">
          {number === null ? "–" : formatCount(number)}
        </span>
        <span className="text-body text-text-3">{unit}</span>
      </p>
      {children}
    </section>
  );
}

const barTones: Record<string, string> = {
  running: "bg-active",
  failed: "bg-failed",
  stuck: "bg-failed",
  compensating: "bg-exited",
  cancelling: "bg-exited",
};

function StatusBar({ counts }: { counts: Record<string, number> }) {
  const present = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([a], [b]) => rank(a) - rank(b));
  const all = present.reduce((sum, [, count]) => sum + count, 0);
  if (all === 0) return <p className="text-body text-text-2">None has been started.</p>;
  return (
    <>
      <div aria-hidden className="flex h-2 gap-0.5 overflow-hidden rounded-full">
        {present.map(([status, count]) => (
          <span
            key={status}
            className={barTones[status] ?? "bg-border-2"}
            style={{ width: `${Math.max(1, (count / all) * 100)}%` }}
          />
        ))}
      </div>
      <ul className="mt-2 flex flex-wrap gap-x-3.5 gap-y-1">
        {present.map(([status, count]) => (
          <li key={status}>
            <Link
              href={`/instances?status=${status}` as Route}
              className="rounded-chip text-body text-text-2 hover:underline"
            >
              <span className="font-medium text-text tabular-nums">{formatCount(count)}</span> {status}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

/** What runs first, what went wrong next, what is over last. */
const barOrder = ["running", "queued", "suspended", "cancelling", "compensating", "stuck", "failed"];
const rank = (status: string): number => {
  const at = barOrder.indexOf(status);
  return at < 0 ? barOrder.length : at;
};

function sumByStatus(charts: readonly ChartSummary[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const chart of charts) {
    for (const [status, count] of Object.entries(chart.instances)) sums[status] = (sums[status] ?? 0) + count;
  }
  return sums;
}

function publishedWords(charts: readonly ChartSummary[]): string {
  if (charts.length === 0) return "Draw or import the first one.";
  const drafts = charts.filter((chart) => chart.version === null).length;
  if (drafts === 0) return "All are published.";
  return drafts === charts.length ? "None is published yet." : `${drafts} not published yet.`;
}
