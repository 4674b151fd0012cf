"use client";
/**
 * Schedules: what runs by the clock, when next, how it went; the chosen one beside the list.
 *
 * Holds: filters, the chosen schedule and the open form are in the address; waits are counted on the database's clock. Who may
 *        only read is told so at the first refusal, and the buttons that write go.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { CalendarClock, Eye, Plus } from "lucide-react";
import { useState } from "react";
import { useDatabaseNow } from "@/components/locks/use-database-now";
import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { DataTable, type Column } from "@/components/ui/data-table";
import { ListFooter } from "@/components/ui/list-footer";
import { PageHeader } from "@/components/ui/page-header";
import { queryKeys } from "@/components/ui/query-keys";
import { Segmented } from "@/components/ui/segmented";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import { useClient } from "@/components/ui/use-client";
import { useListPages } from "@/components/ui/use-list-pages";
import { useUrlParams } from "@/components/ui/use-url-params";
import { LockstepError } from "@/lib/base/errors";
import { curlOf } from "@/lib/client/curl-of";
import type { ArgsOf } from "@/lib/client/client";
import type { ScheduleView } from "@/lib/contract/schedules";
import { ScheduleChip } from "./schedule-chip";
import { ScheduleDetail } from "./schedule-detail";
import { ScheduleDialog } from "./schedule-dialog";
import { actionWords, nextWords, statusOf } from "./schedule-words";
import { TickMarks } from "./tick-marks";

const pageSize = 50;
/** Schedules make no news in the live stream. */
const rereadMs = 5_000;
const segments = [
  { value: "all", label: "All" },
  { value: "active", label: "Active" },
  { value: "paused", label: "Paused" },
] as const;

export function SchedulesPage() {
  const client = useClient();
  const [params, setParams] = useUrlParams();
  const [readOnly, setReadOnly] = useState(false);
  const status = params.get("status");
  const chart = params.get("chart");
  const cursor = params.get("cursor");
  const chosen = params.get("schedule");
  const args = Object.fromEntries(
    Object.entries({ status, chartId: chart, cursor, limit: pageSize }).filter(([, value]) => value !== null),
  ) as ArgsOf<"listSchedules">;
  const page = useQuery({
    queryKey: [...queryKeys.schedules, args],
    queryFn: ({ signal }) => client.listSchedules(args, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: rereadMs,
  });
  const now = useDatabaseNow(page.data, page.dataUpdatedAt);
  const pages = useListPages(cursor, setParams);
  const items = page.data?.items ?? [];
  const selected = chosen ?? items[0]?.id ?? null;
  const nextCursor = page.data?.nextCursor ?? null;
  const filtered = status !== null || chart !== null;
  const create = (): void => setParams({ form: "new" }, "push");
  const noteRefusal = (error: unknown): void => {
    if (error instanceof LockstepError && error.code === "forbidden") setReadOnly(true);
  };

  return (
    <>
      <PageHeader
        title="Schedules"
        actions={
          <>
            <CopyCurl line={() => curlOf("listSchedules", args, { baseUrl: window.location.origin })} />
            {readOnly ? null : (
              <Button variant="ink" onClick={create} data-testid="new-schedule">
                <Plus size={14} aria-hidden />
                New schedule
              </Button>
            )}
          </>
        }
      >
        <Segmented
          label="Status"
          value={status === "active" || status === "paused" ? status : "all"}
          onValueChange={(next) => pages.filter({ status: next === "all" ? null : next })}
          options={[...segments]}
        />
        {chart === null ? null : (
          <Button size="sm" onClick={() => pages.filter({ chart: null })}>
            Chart {chart} ×
          </Button>
        )}
      </PageHeader>
      {readOnly ? (
        <Banner tone="past" icon={Eye} testId="read-only">
          <strong className="font-semibold">Read only.</strong> You may look at schedules; writing them needs
          the permission <span className="font-mono">schedules:write</span>.
        </Banner>
      ) : null}
      <div className="flex min-h-0 flex-1 max-md:flex-col max-md:overflow-y-auto">
        <div className="flex min-w-0 flex-1 flex-col bg-surface max-md:min-h-96 max-md:flex-none">
          <div className="min-h-0 flex-1 overflow-auto" data-testid="schedule-list">
            {page.error && !page.data ? (
              <div className="p-5">
                <ErrorPanel
                  title="Couldn’t list schedules"
                  error={page.error}
                  onRetry={() => void page.refetch()}
                  actions={
                    filtered ? (
                      <Button size="sm" onClick={() => pages.filter({ status: null, chart: null })}>
                        Clear the filters
                      </Button>
                    ) : null
                  }
                />
              </div>
            ) : !page.data || now === null ? (
              <SkeletonRows rows={10} />
            ) : items.length === 0 ? (
              filtered ? (
                <Empty
                  icon={CalendarClock}
                  title="No schedule matches"
                  action={
                    <Button onClick={() => pages.filter({ status: null, chart: null })}>
                      Clear the filters
                    </Button>
                  }
                >
                  Every filter must hold at once.
                </Empty>
              ) : (
                <Empty
                  icon={CalendarClock}
                  title="No schedule yet"
                  action={
                    readOnly ? null : (
                      <Button onClick={create}>
                        <Plus size={14} aria-hidden />
                        New schedule…
                      </Button>
                    )
                  }
                >
                  A schedule starts an instance of a chart, or sends an event to one, at the times of a cron
                  expression.
                </Empty>
              )
            ) : (
              <DataTable
                caption="Schedules"
                columns={columnsAt(now)}
                rows={items}
                rowKey={(schedule) => schedule.id}
                href={(schedule) => `/schedules?schedule=${encodeURIComponent(schedule.id)}`}
                onOpen={(schedule) => setParams({ schedule: schedule.id }, "push")}
                onActive={(schedule) => setParams({ schedule: schedule.id })}
                selectedKey={selected}
                rowTestId="schedule-row"
              />
            )}
          </div>
          <ListFooter
            count={page.data ? `${formatCount(items.length)} shown${nextCursor ? ", more follow" : ""}` : ""}
            keys={[[["J", "K"], "move"]]}
            {...pages.turns(nextCursor)}
          />
        </div>
        {selected === null ? null : (
          <ScheduleDetail
            key={selected}
            scheduleId={selected}
            readOnly={readOnly}
            onRefused={noteRefusal}
            onEdit={() => setParams({ schedule: selected, form: "edit" }, "push")}
            editing={params.get("form") === "edit"}
            onEdited={() => setParams({ form: null })}
            onDeleted={() => setParams({ schedule: null })}
          />
        )}
      </div>
      {params.get("form") === "new" ? (
        <ScheduleDialog
          schedule={null}
          now={now}
          onClose={() => setParams({ form: null })}
          onSaved={(schedule) => setParams({ form: null, schedule: schedule.id })}
          onRefused={noteRefusal}
        />
      ) : null}
    </>
  );
}

function columnsAt(now: number): Column<ScheduleView>[] {
  return [
    {
      key: "id",
      header: "Schedule",
      width: "190px",
      cell: (schedule) => <span title={schedule.id}>{schedule.id}</span>,
    },
    {
      key: "does",
      header: "Does",
      cell: (schedule) => {
        const words = actionWords(schedule.action);
        return <span title={words}>{words}</span>;
      },
    },
    {
      key: "when",
      header: "When",
      width: "220px",
      optional: true,
      cell: (schedule) => (
        <span title={`${schedule.cron} ${schedule.timeZone}`}>
          <span className="font-mono">{schedule.cron}</span>{" "}
          <span className="text-text-3">{schedule.timeZone}</span>
        </span>
      ),
    },
    {
      key: "status",
      header: "Status",
      width: "88px",
      cell: (schedule) => <ScheduleChip schedule={schedule} />,
    },
    {
      key: "next",
      header: "Next run",
      width: "104px",
      align: "right",
      cell: (schedule) =>
        statusOf(schedule) === "active" ? (
          nextWords(schedule, now)
        ) : (
          <span className="text-text-3">{schedule.paused ? "–" : "none"}</span>
        ),
    },
    {
      key: "last",
      header: "Last runs",
      width: "108px",
      cell: (schedule) => <TickMarks ticks={schedule.lastTicks} />,
    },
  ];
}
