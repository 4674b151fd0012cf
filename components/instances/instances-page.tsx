"use client";
/**
 * All instances: filters in the address, one keyset page at a time, rows patched in place.
 *
 * Holds: an unknown filter is the server's error, shown with the way out, never "everything"; news never moves a row: new
 * instances wait behind an "n new" button. A selection lasts as long as its filters; "all that match" is what the server finds.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ArrowUp, Boxes, CircleX, Plus, type LucideIcon } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import type { Route } from "next";
import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { DataTable, type Column } from "@/components/ui/data-table";
import { FilterChip, FilterChips } from "@/components/ui/filter-chip";
import { ListFooter } from "@/components/ui/list-footer";
import { LiveChip } from "@/components/ui/live-chip";
import { PageHeader } from "@/components/ui/page-header";
import { queryKeys } from "@/components/ui/query-keys";
import { SearchInput } from "@/components/ui/search-input";
import { Segmented } from "@/components/ui/segmented";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import { Since } from "@/components/ui/time-text";
import { useClient } from "@/components/ui/use-client";
import { useListPages } from "@/components/ui/use-list-pages";
import { useUrlParams } from "@/components/ui/use-url-params";
import { curlOf } from "@/lib/client/curl-of";
import type { ArgsOf } from "@/lib/client/client";
import type { BatchVerb } from "@/lib/contract/batches";
import type { ChartSummary } from "@/lib/contract/charts";
import { labelFilter } from "@/lib/contract/common";
import { conditionName, type InstanceStatus, type InstanceSummary } from "@/lib/contract/instances";
import { BatchDialog } from "./batch-dialog";
import { conditionIcons, conditionLabels, namesIn, reasonOf, shortReasonOf } from "./control-words";
import { labelPair } from "./label-pair";
import { SelectionBar } from "./selection-bar";
import { StartInstanceDialog } from "./start-instance-dialog";
import { StatusChip } from "./status-chip";
import { useDeclaredFields } from "./use-declared-fields";
import { WithNames } from "./with-names";

const pageSize = 50;
const segments = ["running", "queued", "suspended", "failed", "stuck", "completed", "cancelled"] as const;

export function InstancesPage() {
  const client = useClient();
  const [params, setParams] = useUrlParams();
  const filters = {
    chartId: params.get("chart"),
    status: params.get("status"),
    idPrefix: params.get("id"),
    state: params.get("state"),
    businessKey: params.get("key"),
    condition: params.get("condition"),
    label: params.has("label") ? params.getAll("label") : null,
    index: params.has("index") ? params.getAll("index") : null,
  };
  const cursor = params.get("cursor");
  const filtered = Object.values(filters).some((value) => value !== null);
  // A status that does not exist goes to the server as it is: its answer says so.
  const args = Object.fromEntries(
    Object.entries({ ...filters, cursor, limit: pageSize }).filter(([, value]) => value !== null),
  ) as ArgsOf<"listInstances">;
  const { cursor: _page, limit: _size, ...wholeFilter } = args;
  const page = useQuery({
    queryKey: [...queryKeys.instances, args],
    queryFn: ({ signal }) => client.listInstances(args, { signal }),
    placeholderData: keepPreviousData,
  });
  const charts = useQuery({ queryKey: queryKeys.charts, queryFn: () => client.listCharts() });
  const fields = useDeclaredFields(
    charts.data?.items.find(({ id }) => id === filters.chartId)?.version ?? null,
    filters.chartId,
  );
  const { rows, newCount, showNew } = useSteadyRows(
    page.data?.items,
    page.isPlaceholderData,
    JSON.stringify(args),
  );
  const pages = useListPages(cursor, setParams);
  const router = useRouter();
  const [verb, setVerb] = useState<BatchVerb | null>(null);
  const selection = useSelection(JSON.stringify(filters), rows?.map((row) => row.id) ?? []);
  const { filter } = pages;
  const clear = (): void =>
    filter({
      chart: null,
      status: null,
      id: null,
      state: null,
      key: null,
      condition: null,
      label: null,
      index: null,
    });
  const counts = countByStatus(charts.data?.items, filters.chartId);
  // Counts come per chart: they hold for no finer filter.
  const { chartId: _chart, status: _status, ...finer } = filters;
  const countsHold = Object.values(finer).every((value) => value === null);
  const nextCursor = page.data?.nextCursor ?? null;

  return (
    <>
      <PageHeader
        title="Instances"
        actions={
          <>
            <LiveChip />
            <Button asChild variant="ghost">
              <Link href="/batches">Batches</Link>
            </Button>
            <CopyCurl line={() => curlOf("listInstances", args, { baseUrl: window.location.origin })} />
            <Button
              variant="ink"
              onClick={() => setParams({ start: 1 }, "push")}
              data-testid="start-instance"
            >
              <Plus size={14} aria-hidden />
              Start instance
            </Button>
          </>
        }
      >
        <Segmented
          label="Status"
          value={filters.status ?? "all"}
          onValueChange={(status) => filter({ status: status === "all" ? null : status })}
          options={[
            {
              value: "all",
              label: "All",
              ...(counts && countsHold ? { count: formatCount(counts.all) } : {}),
            },
            ...segments
              .filter((status) => !counts || (counts.by[status] ?? 0) > 0 || filters.status === status)
              .map((status) => ({
                value: status,
                label: status.charAt(0).toUpperCase() + status.slice(1),
                ...(counts && countsHold ? { count: formatCount(counts.by[status] ?? 0) } : {}),
              })),
          ]}
        />
      </PageHeader>
      <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-2 border-b border-border bg-surface px-3.5 py-1.5">
        <SearchInput
          className="w-56"
          label="Id starts with…"
          value={filters.idPrefix ?? ""}
          onChange={(id) => filter({ id: id || null })}
        />
        <FilterChip
          name="Chart"
          value={filters.chartId}
          onChange={(chart) => filter({ chart, index: null })}
          options={(charts.data?.items ?? []).map((chart) => ({ value: chart.id, label: chart.id }))}
          testId="filter-chart"
        />
        <FilterChip
          name="State"
          value={filters.state}
          onChange={(state) => filter({ state })}
          placeholder="state name"
          testId="filter-state"
        />
        <FilterChip
          name="Business key"
          value={filters.businessKey}
          onChange={(key) => filter({ key })}
          placeholder="exact key"
          testId="filter-key"
        />
        <FilterChip
          name="Waits for"
          value={filters.condition}
          onChange={(condition) => filter({ condition })}
          options={conditionName.options.map((value) => ({ value, label: conditionLabels[value] }))}
          testId="filter-condition"
        />
        <FilterChips
          name="Label"
          values={filters.label ?? []}
          onChange={(label) => filter({ label })}
          pair={labelPair}
          placeholder="exact value"
          check={labelProblem}
          testId="filter-label"
        />
        {filters.index === null && !fields ? null : (
          <FilterChips
            name="Field"
            values={filters.index ?? []}
            onChange={(index) => filter({ index })}
            fields={fields}
            placeholder="exact value"
            check={fields ? undefined : () => "Choose a chart first."}
            testId="filter-field"
          />
        )}
        {filtered ? (
          <Button variant="link" onClick={clear} data-testid="clear-filters">
            Clear
          </Button>
        ) : null}
      </div>
      {selection.count > 0 || selection.whole ? (
        <SelectionBar
          count={selection.count}
          whole={selection.whole}
          onWhole={selection.chooseWhole}
          onVerb={setVerb}
          onClear={selection.clear}
        />
      ) : null}
      <div className="min-h-0 flex-1 overflow-auto bg-surface" data-testid="instance-list">
        {page.error && !page.data ? (
          <div className="p-5">
            <ErrorPanel
              title="Couldn’t list instances"
              error={page.error}
              onRetry={() => void page.refetch()}
              actions={
                filtered ? (
                  <Button size="sm" onClick={clear}>
                    Clear the filters
                  </Button>
                ) : null
              }
            />
          </div>
        ) : !rows ? (
          <SkeletonRows rows={16} />
        ) : rows.length === 0 ? (
          filtered || cursor ? (
            <Empty
              icon={Boxes}
              title="No instance matches"
              action={<Button onClick={clear}>Clear the filters</Button>}
            >
              Every filter in the bar must hold at once. Ids are matched from their start, states and keys
              exactly.
            </Empty>
          ) : (
            <Empty
              icon={Boxes}
              title="No instance yet"
              action={
                <Button onClick={() => setParams({ start: 1 }, "push")}>
                  <Plus size={14} aria-hidden />
                  Start instance…
                </Button>
              }
            >
              An instance is one running copy of a published chart. Start one here, or by the API.
            </Empty>
          )
        ) : (
          <DataTable
            caption="Instances"
            columns={columns}
            rows={rows}
            rowKey={(row) => row.id}
            href={(row) => `/instances/${encodeURIComponent(row.id)}`}
            choice={selection.choice}
            rowTestId="instance-row"
          />
        )}
      </div>
      <ListFooter
        count={
          rows ? (
            <span className="flex items-center gap-3">
              {formatCount(rows.length)} shown{nextCursor ? ", more follow" : ""}
              {newCount > 0 ? (
                <Button
                  size="sm"
                  onClick={showNew}
                  className="border-accent text-accent"
                  data-testid="show-new"
                >
                  <ArrowUp size={12} aria-hidden />
                  {formatCount(newCount)} new
                </Button>
              ) : null}
            </span>
          ) : null
        }
        keys={[
          [["J", "K"], "move"],
          [["X"], "select"],
          [["⇧X"], "range"],
          [["↵"], "open"],
          [["/"], "filter"],
        ]}
        {...pages.turns(nextCursor)}
      />
      {verb === null ? null : (
        <BatchDialog
          verb={verb}
          selection={selection.whole ? { filter: wholeFilter } : { instanceIds: [...selection.chosen] }}
          onClose={() => setVerb(null)}
          onMade={(batch) => router.push(`/batches/${encodeURIComponent(batch.id)}` as Route)}
        />
      )}
      <StartInstanceDialog
        open={params.has("start")}
        onOpenChange={(open) => setParams({ start: open ? 1 : null })}
        chartId={params.get("start-chart") ?? filters.chartId}
      />
    </>
  );
}

const columns: Column<InstanceSummary>[] = [
  { key: "id", header: "Instance", width: "172px", cell: (row) => <span title={row.id}>{row.id}</span> },
  {
    key: "chart",
    header: "Chart",
    width: "124px",
    cell: (row) => (
      <>
        {row.chartId} <span className="text-text-3">v{row.version}</span>
      </>
    ),
  },
  { key: "status", header: "Status", width: "108px", cell: (row) => <StatusChip status={row.status} /> },
  {
    key: "state",
    header: "State",
    width: "128px",
    cell: (row) => {
      const text = row.configuration.join(" · ");
      return text ? <span title={text}>{text}</span> : <span className="text-text-3">–</span>;
    },
  },
  {
    key: "why",
    header: "Waits for, why",
    optional: true,
    cell: (row) =>
      row.error ? (
        <Why icon={CircleX} title={row.error.message}>
          {row.error.message}
        </Why>
      ) : (
        <Awaited row={row} />
      ),
  },
  {
    key: "key",
    header: "Business key",
    width: "104px",
    optional: true,
    cell: (row) => <span className="font-mono text-text-2">{row.businessKey ?? "–"}</span>,
  },
  {
    key: "event",
    header: "Last event",
    width: "104px",
    cell: (row) => (
      <span className="font-mono text-text-2" title={row.lastEvent ?? undefined}>
        {row.lastEvent ?? "–"}
      </span>
    ),
  },
  { key: "seq", header: "Seq", width: "56px", align: "right", cell: (row) => formatCount(row.seq) },
  {
    key: "age",
    header: "Quiet for",
    width: "84px",
    align: "right",
    cell: (row) => <Since at={row.updatedAt} />,
  },
];

const labelProblem = (typed: string): string | null =>
  labelFilter.safeParse(typed).success ? null : "Name its key too, as site with the value north.";

function countByStatus(
  charts: readonly ChartSummary[] | undefined,
  chartId: string | null,
): { all: number; by: Partial<Record<InstanceStatus, number>> } | null {
  if (!charts) return null;
  const by: Record<string, number> = {};
  let all = 0;
  for (const chart of charts) {
    if (chartId !== null && chart.id !== chartId) continue;
    for (const [status, count] of Object.entries(chart.instances)) {
      by[status] = (by[status] ?? 0) + count;
      all += count;
    }
  }
  return { all, by };
}

/**
 * Keeps the rows of a page where they are while their content follows the newest answer. Instances that were not there
 * when the page was opened are counted and shown on demand.
 */
function useSteadyRows(items: readonly InstanceSummary[] | undefined, isOld: boolean, pageKey: string) {
  const [order, setOrder] = useState<{ pageKey: string; ids: string[] } | null>(null);
  const [kept] = useState(() => new Map<string, InstanceSummary>());
  if (items && !isOld && order?.pageKey !== pageKey) {
    const ids = items.map((item) => item.id);
    setOrder({ pageKey, ids });
    kept.clear();
  }
  for (const item of items ?? []) kept.set(item.id, item);
  if (!items || !order) return { rows: items, newCount: 0, showNew: () => {} };
  const shown = new Set(order.ids);
  const rows = isOld
    ? items
    : order.ids.flatMap((id) => {
        const row = kept.get(id);
        return row ? [row] : [];
      });
  return {
    rows,
    newCount: isOld ? 0 : items.filter((item) => !shown.has(item.id)).length,
    showNew: () => setOrder({ pageKey, ids: items.map((item) => item.id) }),
  };
}

/** A batch names its instances one by one up to this many; more are chosen as "all that match". */
const chosenMax = 1_000;

/** The instances chosen with their boxes; another filter begins anew, another page goes on. */
function useSelection(filterKey: string, shown: readonly string[]) {
  const [kept, setKept] = useState({ filterKey, chosen: new Set<string>(), whole: false });
  const [last, setLast] = useState<string | null>(null);
  const now = kept.filterKey === filterKey ? kept : { filterKey, chosen: new Set<string>(), whole: false };
  const choose = (ids: readonly string[], on: boolean): void => {
    const chosen = new Set(now.chosen);
    for (const id of ids) {
      if (!on) chosen.delete(id);
      else if (chosen.size < chosenMax) chosen.add(id);
    }
    setKept({ filterKey, chosen, whole: false });
  };
  const all = shown.length > 0 && shown.every((id) => now.chosen.has(id));
  return {
    chosen: now.chosen,
    count: now.chosen.size,
    whole: now.whole,
    chooseWhole: () => setKept({ ...now, chosen: new Set(shown), whole: true }),
    clear: () => setKept({ filterKey, chosen: new Set(), whole: false }),
    choice: {
      chosen: now.chosen,
      onToggle: (id: string, range: boolean) => {
        const [from, to] = [shown.indexOf(last ?? id), shown.indexOf(id)].sort((a, b) => a - b);
        const ids = range && from !== undefined && from >= 0 ? shown.slice(from, (to ?? from) + 1) : [id];
        choose(ids, !now.chosen.has(id));
        setLast(id);
      },
      onToggleAll: () => choose(shown, !all),
    },
  };
}

/** What it waits for. */
function Awaited({ row }: { row: InstanceSummary }) {
  const [first, ...more] = row.conditions;
  if (!first) return null;
  return (
    <Why icon={conditionIcons[first.for]} title={row.conditions.map(reasonOf).join("; ")}>
      <span className="text-text-2">waits for </span>
      <WithNames text={shortReasonOf(first)} names={namesIn(first)} />
      {more.length === 0 ? null : <span className="text-text-2"> and {formatCount(more.length)} more</span>}
    </Why>
  );
}

function Why({ icon: Icon, title, children }: { icon: LucideIcon; title: string; children: ReactNode }) {
  return (
    <span className="flex items-center gap-1.5" title={title}>
      <Icon size={13} aria-hidden className="shrink-0 text-text-3" />
      <span className="truncate">{children}</span>
    </span>
  );
}
