"use client";
/**
 * One batch: how far it is, what became of each instance; stopped, and let go on.
 */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Ghost, ListChecks, Play, Square } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Chip } from "@/components/ui/chip";
import { CopyCurl } from "@/components/ui/copy-button";
import { DataTable, type Column } from "@/components/ui/data-table";
import { ListFooter } from "@/components/ui/list-footer";
import { PageHeader } from "@/components/ui/page-header";
import { queryKeys } from "@/components/ui/query-keys";
import { Fact } from "@/components/ui/section";
import { Segmented } from "@/components/ui/segmented";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatCount, formatDuration } from "@/components/ui/time";
import { RelativeTime } from "@/components/ui/time-text";
import { firstClick, useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { useListPages } from "@/components/ui/use-list-pages";
import { useUrlParams } from "@/components/ui/use-url-params";
import { LockstepError } from "@/lib/base/errors";
import { curlOf } from "@/lib/client/curl-of";
import type { ArgsOf } from "@/lib/client/client";
import type { BatchItem, BatchView } from "@/lib/contract/batches";
import { BatchChip, BatchName } from "./batch-chip";
import { batchWords, filterWords, itemLooks, leftOf, progressWords, targetWords } from "./batch-words";

const pageSize = 50;
const rereadMs = 1_000;

export function BatchPage({ batchId }: { batchId: string }) {
  const client = useClient();
  const batch = useQuery({
    queryKey: queryKeys.batch(batchId),
    queryFn: ({ signal }) => client.getBatch({ batchId }, { signal }),
    refetchInterval: (query) => (isOver(query.state.data) ? false : rereadMs),
  });
  const missing = batch.error instanceof LockstepError && batch.error.code === "not-found";
  const crumbs = [
    { label: "Instances", href: "/instances" as const },
    { label: "Batches", href: "/batches" as const },
  ];
  if (batch.data) return <Shown batch={batch.data} crumbs={crumbs} />;
  return (
    <>
      <PageHeader crumbs={crumbs} title={batchId} />
      <div className="min-h-0 flex-1 bg-surface">
        {missing ? (
          <Empty icon={Ghost} title={`There is no batch ${batchId}`} />
        ) : batch.error ? (
          <div className="p-5">
            <ErrorPanel
              title="Couldn’t read the batch"
              error={batch.error}
              onRetry={() => void batch.refetch()}
            />
          </div>
        ) : (
          <SkeletonRows rows={8} />
        )}
      </div>
    </>
  );
}

const isOver = (batch: BatchView | undefined): boolean =>
  batch?.status === "done" || batch?.status === "cancelled";

function Shown({ batch, crumbs }: { batch: BatchView; crumbs: Parameters<typeof PageHeader>[0]["crumbs"] }) {
  const client = useClient();
  const queryClient = useQueryClient();
  const batchId = batch.id;
  const stopped = batch.status === "cancelled";
  const turn = useCall({
    mutationFn: () => (stopped ? client.resumeBatch({ batchId }) : client.cancelBatch({ batchId })),
    onSuccess: (after) => {
      queryClient.setQueryData(queryKeys.batch(batchId), after);
      void queryClient.invalidateQueries({ queryKey: queryKeys.batches });
    },
  });
  return (
    <>
      <PageHeader
        crumbs={crumbs ?? []}
        title={<BatchName batch={batch} />}
        actions={
          <>
            <CopyCurl line={() => curlOf("getBatch", { batchId }, { baseUrl: window.location.origin })} />
            {batch.status === "done" ? null : (
              <Button
                disabled={turn.isPending}
                onClick={firstClick(() => turn.mutate())}
                data-testid="turn-batch"
              >
                {stopped ? <Play size={13} aria-hidden /> : <Square size={13} aria-hidden />}
                {stopped ? "Go on" : "Stop"}
              </Button>
            )}
          </>
        }
      >
        <BatchChip batch={batch} />
      </PageHeader>
      <section className="shrink-0 border-b border-border bg-surface px-3.5 py-3" aria-label="Progress">
        <Bar batch={batch} />
        <dl className="mt-3 grid grid-cols-6 gap-x-4 gap-y-2.5 max-lg:grid-cols-3">
          <Fact name="Verb">
            {batchWords[batch.verb].label} {targetWords(batch)}
          </Fact>
          <Fact name="Instances">
            {"filter" in batch.selection
              ? filterWords(batch.selection.filter)
              : `${formatCount(batch.selection.instanceIds.length)} chosen`}
          </Fact>
          <Fact name="Why">
            <span title={batch.reason}>{batch.reason}</span>
          </Fact>
          <Fact name="Rate">
            {batch.ratePerSecond === null ? "no limit" : `${formatCount(batch.ratePerSecond)} a second`}
          </Fact>
          <Fact name="Asked by">
            {batch.createdBy}, <RelativeTime at={batch.createdAt} />
          </Fact>
          <Fact name="Took">
            {batch.endedAt === null ? "–" : formatDuration(Math.max(0, batch.endedAt - batch.createdAt))}
          </Fact>
        </dl>
        {turn.error ? (
          <ErrorPanel
            className="mt-3"
            title={`Couldn’t ${stopped ? "let it go on" : "stop it"}`}
            error={turn.error}
          />
        ) : null}
      </section>
      <Items batch={batch} />
    </>
  );
}

/** How far it is, by outcome; the words beside it say the same. */
function Bar({ batch }: { batch: BatchView }) {
  const { total, ok, refused, skipped } = batch;
  const share = (count: number) => ({ width: `${total === 0 ? 0 : (count / total) * 100}%` });
  return (
    <>
      <div
        className="flex h-2 overflow-hidden rounded-full bg-surface-3"
        role="progressbar"
        aria-label="Progress"
        aria-valuemin={0}
        aria-valuemax={Math.max(1, total)}
        aria-valuenow={total - leftOf(batch)}
        aria-valuetext={progressWords(batch)}
      >
        <span className="bg-active" style={share(ok)} />
        <span className="bg-text-3" style={share(skipped)} />
        <span className="bg-failed" style={share(refused)} />
      </div>
      <p className="mt-2 flex flex-wrap gap-x-4 text-body tabular-nums" data-testid="batch-progress">
        <strong className="font-semibold">{progressWords(batch)}</strong>
        <span className="text-text-2">{formatCount(ok)} ok</span>
        <span className={refused > 0 ? "font-medium text-failed" : "text-text-2"}>
          {formatCount(refused)} refused
        </span>
        <span className="text-text-2">{formatCount(skipped)} skipped</span>
      </p>
    </>
  );
}

function Items({ batch }: { batch: BatchView }) {
  const client = useClient();
  const [params, setParams] = useUrlParams();
  const status = params.get("outcome");
  const cursor = params.get("cursor");
  const args = Object.fromEntries(
    Object.entries({ batchId: batch.id, status, cursor, limit: pageSize }).filter(
      ([, value]) => value !== null,
    ),
  ) as ArgsOf<"listBatchItems">;
  const page = useQuery({
    // Read again when the batch is over: what was read before may be older than its end.
    queryKey: [...queryKeys.batch(batch.id), "items", args, isOver(batch)],
    queryFn: ({ signal }) => client.listBatchItems(args, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: isOver(batch) ? false : rereadMs,
  });
  const pages = useListPages(cursor, setParams);
  const items = page.data?.items ?? [];
  const nextCursor = page.data?.nextCursor ?? null;
  const counts = { ok: batch.ok, refused: batch.refused, skipped: batch.skipped, pending: leftOf(batch) };
  return (
    <>
      <div className="flex min-h-10 shrink-0 items-center border-b border-border bg-surface px-3.5">
        <Segmented
          label="Outcome"
          value={status ?? "all"}
          onValueChange={(next) => pages.filter({ outcome: next === "all" ? null : next })}
          options={[
            { value: "all", label: "All", count: formatCount(batch.total) },
            ...(["refused", "ok", "skipped", "pending"] as const).map((each) => ({
              value: each,
              label: itemLooks[each].word.replace(/^./, (first) => first.toUpperCase()),
              count: formatCount(counts[each]),
            })),
          ]}
        />
      </div>
      <div className="min-h-0 flex-1 overflow-auto bg-surface" data-testid="batch-items">
        {page.error && !page.data ? (
          <div className="p-5">
            <ErrorPanel
              title="Couldn’t list its instances"
              error={page.error}
              onRetry={() => void page.refetch()}
            />
          </div>
        ) : !page.data ? (
          <SkeletonRows rows={8} />
        ) : items.length === 0 ? (
          <Empty icon={ListChecks} title={status === null ? "No instance" : `None is ${status}`}>
            {batch.status === "listing" ? "They are being listed." : null}
          </Empty>
        ) : (
          <DataTable
            caption="Instances of the batch"
            columns={columns}
            rows={items}
            rowKey={(item) => item.instanceId}
            href={(item) => `/instances/${encodeURIComponent(item.instanceId)}`}
            rowTestId="batch-item"
          />
        )}
      </div>
      <ListFooter
        count={page.data ? `${formatCount(items.length)} shown${nextCursor ? ", more follow" : ""}` : ""}
        keys={[
          [["J", "K"], "move"],
          [["↵"], "open"],
        ]}
        {...pages.turns(nextCursor)}
      />
    </>
  );
}

const columns: Column<BatchItem>[] = [
  {
    key: "id",
    header: "Instance",
    width: "26%",
    cell: (item) => <span title={item.instanceId}>{item.instanceId}</span>,
  },
  {
    key: "outcome",
    header: "Outcome",
    width: "112px",
    cell: (item) => {
      const { tone, icon, word } = itemLooks[item.status];
      return (
        <Chip tone={tone} icon={icon}>
          {word}
        </Chip>
      );
    },
  },
  {
    key: "why",
    header: "Why",
    cell: (item) =>
      item.error ? (
        <span title={item.error.message}>
          <span className="font-mono text-text-3">{item.error.code}</span> {item.error.message}
        </span>
      ) : item.status === "skipped" ? (
        <span className="text-text-3">there was nothing to do</span>
      ) : null,
  },
  {
    key: "at",
    header: "When",
    width: "130px",
    align: "right",
    cell: (item) =>
      item.at === null ? <span className="text-text-3">–</span> : <RelativeTime at={item.at} />,
  },
];
