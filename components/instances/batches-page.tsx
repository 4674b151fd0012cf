"use client";
/**
 * Batches, newest first: what was asked for many instances at once, and how far it is.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ListChecks } from "lucide-react";
import Link from "next/link";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { DataTable, type Column } from "@/components/ui/data-table";
import { ListFooter } from "@/components/ui/list-footer";
import { PageHeader } from "@/components/ui/page-header";
import { queryKeys } from "@/components/ui/query-keys";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import { RelativeTime } from "@/components/ui/time-text";
import { useClient } from "@/components/ui/use-client";
import { useListPages } from "@/components/ui/use-list-pages";
import { useUrlParams } from "@/components/ui/use-url-params";
import { curlOf } from "@/lib/client/curl-of";
import type { ArgsOf } from "@/lib/client/client";
import type { BatchView } from "@/lib/contract/batches";
import { BatchChip, BatchName } from "./batch-chip";
import { progressWords } from "./batch-words";

const pageSize = 50;
/** Batches make no news in the live stream. */
const rereadMs = 2_000;

export function BatchesPage() {
  const client = useClient();
  const [params, setParams] = useUrlParams();
  const cursor = params.get("cursor");
  const args: ArgsOf<"listBatches"> = { limit: pageSize, ...(cursor === null ? {} : { cursor }) };
  const page = useQuery({
    queryKey: [...queryKeys.batches, args],
    queryFn: ({ signal }) => client.listBatches(args, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: rereadMs,
  });
  const pages = useListPages(cursor, setParams);
  const items = page.data?.items ?? [];
  const nextCursor = page.data?.nextCursor ?? null;
  return (
    <>
      <PageHeader
        crumbs={[{ label: "Instances", href: "/instances" }]}
        title="Batches"
        actions={<CopyCurl line={() => curlOf("listBatches", args, { baseUrl: window.location.origin })} />}
      />
      <div className="min-h-0 flex-1 overflow-auto bg-surface" data-testid="batch-list">
        {page.error && !page.data ? (
          <div className="p-5">
            <ErrorPanel
              title="Couldn’t list batches"
              error={page.error}
              onRetry={() => void page.refetch()}
            />
          </div>
        ) : !page.data ? (
          <SkeletonRows rows={8} />
        ) : items.length === 0 ? (
          <Empty
            icon={ListChecks}
            title="No batch yet"
            action={
              <Button asChild>
                <Link href="/instances">Choose instances</Link>
              </Button>
            }
          >
            A batch does one verb to many instances: choose them in the list, then the verb.
          </Empty>
        ) : (
          <DataTable
            caption="Batches"
            columns={columns}
            rows={items}
            rowKey={(batch) => batch.id}
            href={(batch) => `/batches/${encodeURIComponent(batch.id)}`}
            rowTestId="batch-row"
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

const columns: Column<BatchView>[] = [
  { key: "name", header: "Batch", cell: (batch) => <BatchName batch={batch} /> },
  { key: "status", header: "Status", width: "104px", cell: (batch) => <BatchChip batch={batch} /> },
  { key: "progress", header: "Progress", width: "190px", cell: progressWords },
  {
    key: "refused",
    header: "Refused",
    width: "80px",
    align: "right",
    cell: (batch) => (
      <span className={batch.refused > 0 ? "font-semibold text-failed" : "text-text-3"}>
        {formatCount(batch.refused)}
      </span>
    ),
  },
  {
    key: "reason",
    header: "Why",
    width: "24%",
    optional: true,
    cell: (batch) => <span title={batch.reason}>{batch.reason}</span>,
  },
  { key: "by", header: "By", width: "100px", cell: (batch) => batch.createdBy },
  {
    key: "at",
    header: "Asked",
    width: "120px",
    align: "right",
    cell: (batch) => <RelativeTime at={batch.createdAt} />,
  },
];
