"use client";
/**
 * Tasks that wait for a person, the chosen one beside the list with its form.
 *
 * Holds: the chosen task is in the address; the list is one keyset page.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ClipboardCheck, Cpu } from "lucide-react";
import Link from "next/link";
import { useDatabaseNow } from "@/components/locks/use-database-now";
import { Button } from "@/components/ui/button";
import { DataTable, type Column } from "@/components/ui/data-table";
import { ListFooter } from "@/components/ui/list-footer";
import { PageHeader } from "@/components/ui/page-header";
import { queryKeys } from "@/components/ui/query-keys";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatAge, formatCount, formatDuration } from "@/components/ui/time";
import { useClient } from "@/components/ui/use-client";
import { useListPages } from "@/components/ui/use-list-pages";
import { useUrlParams } from "@/components/ui/use-url-params";
import type { TaskView } from "@/lib/contract/tasks";
import { AnswerPanel } from "./answer-panel";
import { titleOf } from "./task-title";

const pageSize = 50;
/** Tasks make no news in the live stream. */
const rereadMs = 5_000;

export function WorkPage() {
  const client = useClient();
  const [params, setParams] = useUrlParams();
  const cursor = params.get("cursor");
  const chosen = params.get("task");
  const page = useQuery({
    queryKey: [...queryKeys.openTasks, cursor],
    queryFn: ({ signal }) =>
      client.listOpenTasks(
        { kind: "human", limit: pageSize, ...(cursor === null ? {} : { cursor }) },
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: rereadMs,
  });
  const now = useDatabaseNow(page.data, page.dataUpdatedAt);
  const pages = useListPages(cursor, setParams);
  const items = page.data?.items ?? [];
  const selected = items.find((task) => keyOf(task) === chosen) ?? items[0] ?? null;
  const nextCursor = page.data?.nextCursor ?? null;

  return (
    <>
      <PageHeader
        title="Work"
        subtitle="What states ask of people, the longest waiting first"
        actions={
          <Button asChild size="sm">
            <Link href="/work/workers">
              <Cpu size={13} aria-hidden />
              Workers
            </Link>
          </Button>
        }
      />
      <div className="flex min-h-0 flex-1 max-md:flex-col max-md:overflow-y-auto">
        <div className="flex min-w-0 flex-1 flex-col bg-surface max-md:min-h-96 max-md:flex-none">
          <div className="min-h-0 flex-1 overflow-auto" data-testid="work-list">
            {page.error && !page.data ? (
              <div className="p-5">
                <ErrorPanel
                  title="Couldn’t list the work"
                  error={page.error}
                  onRetry={() => void page.refetch()}
                />
              </div>
            ) : !page.data ? (
              <SkeletonRows rows={8} />
            ) : items.length === 0 ? (
              <Empty icon={ClipboardCheck} title="Nothing waits for a person">
                A task appears here when a state with{" "}
                <span className="font-mono text-table">invoke: human</span> is entered.
              </Empty>
            ) : (
              <DataTable
                caption="Tasks for people"
                columns={columnsAt(now)}
                rows={items}
                rowKey={keyOf}
                href={(task) => `/work?task=${encodeURIComponent(keyOf(task))}`}
                onOpen={(task) => setParams({ task: keyOf(task) }, "push")}
                onActive={(task) => setParams({ task: keyOf(task) })}
                selectedKey={selected && keyOf(selected)}
                rowTestId="work-row"
              />
            )}
          </div>
          <ListFooter
            count={page.data ? `${formatCount(items.length)} shown${nextCursor ? ", more follow" : ""}` : ""}
            keys={[[["J", "K"], "move"]]}
            {...pages.turns(nextCursor)}
          />
        </div>
        {selected === null ? null : <AnswerPanel key={keyOf(selected)} task={selected} />}
      </div>
    </>
  );
}

const keyOf = ({ instanceId, taskId }: TaskView): string => `${instanceId}/${taskId}`;

function columnsAt(now: number | null): Column<TaskView>[] {
  return [
    { key: "title", header: "Task", cell: (task) => <span title={titleOf(task)}>{titleOf(task)}</span> },
    {
      key: "instance",
      header: "Instance",
      width: "28%",
      cell: (task) => <span className="font-mono">{task.instanceId}</span>,
    },
    {
      key: "who",
      header: "Taken by",
      width: "110px",
      cell: (task) => task.worker ?? <span className="text-text-3">nobody</span>,
    },
    {
      key: "age",
      header: "Waits",
      width: "84px",
      align: "right",
      cell: (task) => (now === null ? "–" : formatAge(Math.max(0, now - task.createdAt))),
    },
    {
      key: "due",
      header: "Time left",
      width: "96px",
      align: "right",
      cell: (task) =>
        task.dueAt === null || now === null ? (
          <span className="text-text-3">–</span>
        ) : (
          formatDuration(Math.max(0, Math.floor((task.dueAt - now) / 1_000) * 1_000))
        ),
    },
  ];
}
