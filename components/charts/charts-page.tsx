"use client";
/**
 * The chart library: what is drawn, what is published, what runs.
 */
import { useQuery } from "@tanstack/react-query";
import { FileUp, Plus, Workflow } from "lucide-react";
import type { Route } from "next";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { ImportDialog } from "@/components/editor/import-dialog";
import { StatusChip } from "@/components/instances/status-chip";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { DataTable, type Column } from "@/components/ui/data-table";
import { ListFooter } from "@/components/ui/list-footer";
import { LiveChip } from "@/components/ui/live-chip";
import { PageHeader } from "@/components/ui/page-header";
import { queryKeys } from "@/components/ui/query-keys";
import { SearchInput } from "@/components/ui/search-input";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import { RelativeTime } from "@/components/ui/time-text";
import { useClient } from "@/components/ui/use-client";
import { useUrlParams } from "@/components/ui/use-url-params";
import { curlOf } from "@/lib/client/curl-of";
import type { ChartSummary } from "@/lib/contract/charts";
import { ChartPreview } from "./chart-preview";
import { NewChartDialog } from "./new-chart-dialog";

/** Statuses in the order in which they matter. */
const statusOrder = ["stuck", "failed", "running", "queued", "suspended", "completed"];
const statusesShown = 3;

export function ChartsPage() {
  const client = useClient();
  const router = useRouter();
  const [params, setParams] = useUrlParams();
  const search = params.get("search") ?? "";
  const charts = useQuery({
    queryKey: queryKeys.charts,
    queryFn: ({ signal }) => client.listCharts({}, { signal }),
  });
  const all = charts.data?.items;
  const rows = all?.filter((chart) => chart.id.toLowerCase().includes(search.toLowerCase()));
  const [first, setFirst] = useState<string | null>(null);
  const top = all?.[0]?.id ?? null;
  if (first === null && top !== null) setFirst(top);
  const shown = params.get("chart") ?? first;
  const pick = (chart: ChartSummary): void => setParams({ chart: chart.id });
  const [importing, setImporting] = useState(params.has("import"));
  // ⌘K opens it by address while the page is already there.
  const wantsImport = params.has("import");
  const [wanted, setWanted] = useState(wantsImport);
  if (wanted !== wantsImport) {
    setWanted(wantsImport);
    if (wantsImport) setImporting(true);
  }
  const openImport = (open: boolean): void => {
    setImporting(open);
    setParams({ import: open ? 1 : null });
  };
  const toChart = (chartId: string): void => router.push(`/charts/${encodeURIComponent(chartId)}` as Route);

  return (
    <>
      <PageHeader
        title="Charts"
        subtitle={all ? (all.length === 1 ? "1 chart" : `${formatCount(all.length)} charts`) : undefined}
        actions={
          <>
            <LiveChip />
            <CopyCurl line={() => curlOf("listCharts", {}, { baseUrl: window.location.origin })} />
            <Button onClick={() => openImport(true)} data-testid="import-chart">
              <FileUp size={14} aria-hidden />
              Import…
            </Button>
            <Button variant="ink" onClick={() => setParams({ new: 1 }, "push")} data-testid="new-chart">
              <Plus size={14} aria-hidden />
              New chart
            </Button>
          </>
        }
      />
      <div className="flex min-h-11 shrink-0 items-center gap-2 border-b border-border bg-surface px-3.5 py-1.5">
        <SearchInput
          className="w-56"
          label="Name contains…"
          value={search}
          onChange={(text) => setParams({ search: text || null })}
        />
      </div>
      <div className="flex min-h-0 flex-1 max-md:flex-col max-md:overflow-y-auto">
        <div
          className="min-w-0 flex-1 overflow-auto bg-surface max-md:min-h-64 max-md:flex-none"
          data-testid="chart-list"
        >
          {charts.error && !charts.data ? (
            <div className="p-5">
              <ErrorPanel
                title="Couldn’t list charts"
                error={charts.error}
                onRetry={() => void charts.refetch()}
              />
            </div>
          ) : !rows || !all ? (
            <SkeletonRows rows={6} rowHeight={40} />
          ) : all.length === 0 ? (
            <Empty
              icon={Workflow}
              title="No chart yet"
              action={
                <>
                  <Button onClick={() => setParams({ new: 1 }, "push")}>
                    <Plus size={14} aria-hidden />
                    New chart…
                  </Button>
                  <Button onClick={() => openImport(true)}>
                    <FileUp size={14} aria-hidden />
                    Import…
                  </Button>
                </>
              }
            >
              Draw one, or import XState, SCXML or lockstep JSON. A draft runs once it is published.
            </Empty>
          ) : rows.length === 0 ? (
            <Empty
              icon={Workflow}
              title={`No chart’s name contains “${search}”`}
              action={<Button onClick={() => setParams({ search: null })}>Show all charts</Button>}
            />
          ) : (
            <DataTable
              caption="Charts"
              columns={columns}
              rows={rows}
              rowKey={(chart) => chart.id}
              href={(chart) => `/charts/${encodeURIComponent(chart.id)}`}
              onPick={pick}
              onActive={pick}
              selectedKey={shown}
              rowTestId="chart-row"
              relaxed
            />
          )}
        </div>
        {shown === null ? null : <ChartPreview key={shown} chartId={shown} />}
      </div>
      <ListFooter
        count={rows && all ? `${formatCount(rows.length)} of ${formatCount(all.length)}` : ""}
        keys={[
          [["J", "K"], "move"],
          [["↵"], "open"],
          [["/"], "filter"],
        ]}
      />
      {params.has("new") ? (
        <NewChartDialog
          taken={new Set((all ?? []).map((chart) => chart.id))}
          onClose={() => setParams({ new: null })}
          onCreated={toChart}
        />
      ) : null}
      <ImportDialog open={importing} onOpenChange={openImport} onImported={toChart} />
    </>
  );
}

const columns: Column<ChartSummary>[] = [
  { key: "id", header: "Chart", width: "24%", cell: (chart) => <span title={chart.id}>{chart.id}</span> },
  {
    key: "version",
    header: "Version",
    width: "104px",
    cell: (chart) =>
      chart.version === null ? (
        <span className="text-text-3">not published</span>
      ) : (
        <span>v{chart.version}</span>
      ),
  },
  {
    key: "draft",
    header: "Draft",
    width: "56px",
    cell: (chart) => <span className="font-mono text-text-2">r{chart.revision}</span>,
  },
  {
    key: "instances",
    header: "Instances",
    cell: (chart) => <InstanceCounts chart={chart} />,
  },
  {
    key: "at",
    header: "Changed",
    width: "116px",
    align: "right",
    cell: (chart) => <RelativeTime at={chart.updatedAt} />,
  },
];

function InstanceCounts({ chart }: { chart: ChartSummary }) {
  const present = Object.entries(chart.instances)
    .filter(([, count]) => count > 0)
    .sort(([a], [b]) => rank(a) - rank(b));
  if (present.length === 0) return <span className="text-text-3">none</span>;
  return (
    <span className="flex items-center gap-3">
      {present.slice(0, statusesShown).map(([status, count]) => (
        <Link
          key={status}
          href={`/instances?chart=${encodeURIComponent(chart.id)}&status=${status}` as Route}
          className="flex items-center gap-1.5 rounded-chip hover:underline"
        >
          <span className="font-medium tabular-nums">{formatCount(count)}</span>
          <StatusChip status={status} />
        </Link>
      ))}
      {present.length > statusesShown ? (
        <Link
          href={`/instances?chart=${encodeURIComponent(chart.id)}` as Route}
          className="rounded-chip text-text-3 hover:underline"
        >
          {formatCount(present.slice(statusesShown).reduce((sum, [, count]) => sum + count, 0))} more
        </Link>
      ) : null}
    </span>
  );
}

const rank = (status: string): number => {
  const at = statusOrder.indexOf(status);
  return at < 0 ? statusOrder.length : at;
};
