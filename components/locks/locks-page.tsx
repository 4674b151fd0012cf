"use client";
/**
 * Locks: most blocking first, the chosen one beside the list.
 *
 * Holds: `key` and filters are in the address; leases count down on the database's clock; the list is one keyset page.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Lock } from "lucide-react";
import { useState } from "react";
import { shortStates } from "@/components/instances/state-name";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { DataTable, type Column } from "@/components/ui/data-table";
import { ListFooter } from "@/components/ui/list-footer";
import { LiveChip } from "@/components/ui/live-chip";
import { PageHeader } from "@/components/ui/page-header";
import { queryKeys } from "@/components/ui/query-keys";
import { SearchInput } from "@/components/ui/search-input";
import { Segmented } from "@/components/ui/segmented";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatCount, formatDuration } from "@/components/ui/time";
import { useClient } from "@/components/ui/use-client";
import { useKeys } from "@/components/ui/use-keys";
import { useListPages } from "@/components/ui/use-list-pages";
import { useUrlParams } from "@/components/ui/use-url-params";
import { ZoneSwitch } from "@/components/ui/zone-switch";
import { curlOf } from "@/lib/client/curl-of";
import type { ArgsOf } from "@/lib/client/client";
import type { LockSummary } from "@/lib/contract/locks";
import { HealthChip } from "./health-chip";
import { LeaseLeft } from "./lease-left";
import { LockDetail } from "./lock-detail";
import { useDatabaseNow } from "./use-database-now";

const pageSize = 50;
/** Renewals change no fence and so make no news: the list is read again this often while it is seen. */
const rereadMs = 5_000;

export function LocksPage() {
  const client = useClient();
  const [params, setParams] = useUrlParams();
  const search = params.get("search");
  const status = params.get("status");
  const cursor = params.get("cursor");
  const chosen = params.get("key");
  const args = Object.fromEntries(
    Object.entries({ search, status, cursor, limit: pageSize }).filter(([, value]) => value !== null),
  ) as ArgsOf<"listLocks">;
  const page = useQuery({
    queryKey: [...queryKeys.locks, args],
    queryFn: ({ signal }) => client.listLocks(args, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: rereadMs,
  });
  const now = useDatabaseNow(page.data, page.dataUpdatedAt);
  const pages = useListPages(cursor, setParams);
  const { filter } = pages;
  const clear = (): void => filter({ search: null, status: null });
  const open = (key: string | null): void => setParams({ key, release: null }, "push");
  // The first of the first answer, then it stays: a list that reorders must not change what is read beside it.
  const [first, setFirst] = useState<string | null>(null);
  const top = page.data?.items[0]?.key ?? null;
  if (first === null && top !== null) setFirst(top);
  const selected = chosen ?? first;
  useKeys({
    Escape: () => open(null),
    r: () => {
      if (selected !== null) setParams({ key: selected, release: 1 }, "push");
    },
  });
  const nextCursor = page.data?.nextCursor ?? null;

  return (
    <>
      <PageHeader
        title="Locks"
        subtitle={
          page.data
            ? `${formatCount(page.data.held)} held · ${formatCount(page.data.waiting)} waiting · lease times are on the database clock`
            : undefined
        }
        actions={
          <>
            <LiveChip />
            <ZoneSwitch />
            <CopyCurl line={() => curlOf("listLocks", args, { baseUrl: window.location.origin })} />
          </>
        }
      />
      <div className="flex min-h-0 flex-1 max-md:flex-col max-md:overflow-y-auto">
        <div className="flex min-w-0 flex-1 flex-col bg-surface max-md:min-h-96 max-md:flex-none">
          <div className="flex min-h-10 shrink-0 flex-wrap items-center gap-2 border-b border-border px-3 py-1.5">
            <SearchInput
              className="w-52"
              label="Key or holder"
              value={search ?? ""}
              onChange={(text) => filter({ search: text || null })}
            />
            <Segmented
              label="Which locks"
              value={status ?? "taken"}
              onValueChange={(next) => filter({ status: next === "taken" ? null : next })}
              options={[
                { value: "taken", label: "In use" },
                { value: "held", label: "Held" },
                { value: "expired", label: "Expired" },
                { value: "free", label: "Free" },
                { value: "all", label: "All" },
              ]}
            />
            <span className="ml-auto text-body text-text-3">Most blocking first</span>
          </div>
          <div className="min-h-0 flex-1 overflow-auto" data-testid="lock-list">
            {page.error && !page.data ? (
              <div className="p-5">
                <ErrorPanel
                  title="Couldn’t list locks"
                  error={page.error}
                  onRetry={() => void page.refetch()}
                  actions={
                    search || status ? (
                      <Button size="sm" onClick={clear}>
                        Clear the filters
                      </Button>
                    ) : null
                  }
                />
              </div>
            ) : !page.data ? (
              <SkeletonRows rows={16} />
            ) : page.data.items.length === 0 ? (
              search || status ? (
                <Empty
                  icon={Lock}
                  title="No lock matches"
                  action={<Button onClick={clear}>Clear the filters</Button>}
                >
                  Keys and holders are matched by what they contain.
                </Empty>
              ) : (
                <Empty
                  icon={Lock}
                  title="No lock is in use"
                  action={<Button onClick={() => filter({ status: "all" })}>Show free locks too</Button>}
                >
                  A lock appears when somebody acquires its key:{" "}
                  <span className="font-mono text-table">POST /api/v1/locks/zone:Z-14/acquire</span>
                </Empty>
              )
            ) : (
              <DataTable
                caption="Locks"
                columns={columnsAt(now)}
                rows={page.data.items}
                rowKey={(lock) => lock.key}
                href={(lock) => `/locks?key=${encodeURIComponent(lock.key)}`}
                onOpen={(lock) => open(lock.key)}
                onActive={(lock) => setParams({ key: lock.key })}
                selectedKey={selected}
                rowTestId="lock-row"
              />
            )}
          </div>
          <ListFooter
            count={
              page.data
                ? `${formatCount(page.data.items.length)} shown${nextCursor ? ", more follow" : ""}`
                : ""
            }
            keys={[
              [["J", "K"], "move"],
              [["R"], "release…"],
              [["/"], "filter"],
            ]}
            {...pages.turns(nextCursor)}
          />
        </div>
        {selected === null ? null : (
          <LockDetail
            key={selected}
            lockKey={selected}
            releasing={params.has("release")}
            onRelease={(releasing) => setParams({ key: selected, release: releasing ? 1 : null }, "push")}
          />
        )}
      </div>
    </>
  );
}

function columnsAt(now: number | null): Column<LockSummary>[] {
  return [
    { key: "key", header: "Key", width: "19%", cell: (lock) => <span title={lock.key}>{lock.key}</span> },
    {
      key: "holder",
      header: "Holder, state",
      cell: (lock) =>
        lock.holder === null ? (
          <span className="text-text-3">–</span>
        ) : (
          <span title={lock.holder}>
            <span className="font-mono">{lock.holder}</span>{" "}
            <span className="text-text-3">
              {lock.instance ? shortStates(lock.instance.configuration) : "session"}
            </span>
          </span>
        ),
    },
    {
      key: "held",
      header: "Held",
      width: "84px",
      align: "right",
      cell: (lock) =>
        lock.acquiredAt === null || now === null || lock.status === "free"
          ? "–"
          : formatDuration(floorSecond(now - lock.acquiredAt)),
    },
    {
      key: "lease",
      header: "Lease left",
      width: "126px",
      cell: (lock) => <LeaseLeft lock={lock} now={now} />,
    },
    {
      key: "fence",
      header: "Fence",
      width: "64px",
      align: "right",
      cell: (lock) => <span className="font-mono">{formatCount(lock.fence)}</span>,
    },
    {
      key: "waiters",
      header: "Waiters",
      width: "64px",
      align: "right",
      cell: (lock) => (
        <span className={lock.waiters > 0 ? "font-semibold" : "text-text-3"}>
          {formatCount(lock.waiters)}
        </span>
      ),
    },
    {
      key: "wait",
      header: "Longest wait",
      width: "96px",
      align: "right",
      optional: true,
      cell: (lock) =>
        lock.longestWaitMs === null ? (
          <span className="text-text-3">–</span>
        ) : (
          <span className="font-semibold">{formatDuration(floorSecond(lock.longestWaitMs))}</span>
        ),
    },
    { key: "health", header: "Health", width: "136px", cell: (lock) => <HealthChip lock={lock} /> },
  ];
}

const floorSecond = (ms: number): number => Math.max(0, Math.floor(ms / 1_000) * 1_000);
