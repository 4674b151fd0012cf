"use client";
/**
 * One schedule: when it fires next, what it does, what became of its ticks; and the verbs on it.
 *
 * Holds: two presses of "Run now" are one run (one idempotency key until it is answered).
 */
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { CalendarX2, Ellipsis, Pause, Pencil, Play, SkipForward, Trash2 } from "lucide-react";
import Link from "next/link";
import type { Route } from "next";
import { useState, type ReactNode } from "react";
import { useDatabaseNow } from "@/components/locks/use-database-now";
import { Button, IconButton } from "@/components/ui/button";
import { CopyIcon } from "@/components/ui/copy-button";
import { JsonView } from "@/components/ui/json-view";
import { Menu } from "@/components/ui/menu";
import { queryKeys } from "@/components/ui/query-keys";
import { Fact, Section } from "@/components/ui/section";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { RelativeTime } from "@/components/ui/time-text";
import { showToast } from "@/components/ui/toast";
import { firstClick, useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { LockstepError } from "@/lib/base/errors";
import { curlOf } from "@/lib/client/curl-of";
import type { ScheduleDetail as Detail, TickView } from "@/lib/contract/schedules";
import { DeleteScheduleDialog } from "./delete-schedule-dialog";
import { NextTimes } from "./next-times";
import { ScheduleChip } from "./schedule-chip";
import { ScheduleDialog } from "./schedule-dialog";
import { TickList } from "./tick-list";
import { misfireWords } from "./schedule-words";

const rereadMs = 2_000;

interface DetailProps {
  scheduleId: string;
  readOnly: boolean;
  editing: boolean;
  /** A verb was refused: the page looks whether it is for want of a permission. */
  onRefused: (error: unknown) => void;
  onEdit: () => void;
  onEdited: () => void;
  onDeleted: () => void;
}

export function ScheduleDetail(props: DetailProps) {
  const { scheduleId } = props;
  const client = useClient();
  const schedule = useQuery({
    queryKey: queryKeys.schedule(scheduleId),
    queryFn: ({ signal }) => client.getSchedule({ scheduleId }, { signal }),
    refetchInterval: rereadMs,
  });
  const now = useDatabaseNow(schedule.data, schedule.dataUpdatedAt);
  const missing = schedule.error instanceof LockstepError && schedule.error.code === "not-found";
  return (
    <aside
      aria-label={`Schedule ${scheduleId}`}
      data-testid="schedule-detail"
      className="flex w-[500px] shrink-0 flex-col overflow-y-auto border-l border-border bg-surface max-lg:w-[380px] max-md:w-full max-md:overflow-visible max-md:border-t max-md:border-l-0"
    >
      {missing ? (
        <Empty icon={CalendarX2} title={`There is no schedule ${scheduleId}`}>
          It was deleted, or never was. What it started goes on.
        </Empty>
      ) : schedule.error && !schedule.data ? (
        <div className="p-3.5">
          <ErrorPanel
            title={`Couldn’t read ${scheduleId}`}
            error={schedule.error}
            onRetry={() => void schedule.refetch()}
          />
        </div>
      ) : !schedule.data || now === null ? (
        <SkeletonRows rows={8} />
      ) : (
        <Shown {...props} schedule={schedule.data} now={now} />
      )}
    </aside>
  );
}

function Shown({ schedule, now, ...props }: DetailProps & { schedule: Detail; now: number }) {
  const { scheduleId, readOnly, onRefused } = props;
  const client = useClient();
  const queryClient = useQueryClient();
  const [deleting, setDeleting] = useState(false);
  const [runKey, setRunKey] = useState(() => crypto.randomUUID());
  const stale = (): void => {
    void queryClient.invalidateQueries({ queryKey: queryKeys.schedules });
    void queryClient.invalidateQueries({ queryKey: queryKeys.schedule(scheduleId) });
  };
  const turn = useCall({
    mutationFn: () =>
      schedule.paused ? client.resumeSchedule({ scheduleId }) : client.pauseSchedule({ scheduleId }),
    onError: onRefused,
    onSettled: stale,
  });
  const run = useCall({
    mutationFn: () => client.runSchedule({ scheduleId }, { idempotencyKey: runKey }),
    onSuccess: ({ tick }) => {
      setRunKey(crypto.randomUUID());
      showToast(
        tick.outcome === "started"
          ? `${scheduleId} started ${tick.instanceId ?? ""}.`
          : `${scheduleId} sent its event to ${tick.instanceId ?? ""}.`,
      );
    },
    onError: onRefused,
    onSettled: stale,
  });
  const failed = [
    [run.error, `Couldn’t run ${scheduleId}`] as const,
    [turn.error, `Couldn’t ${schedule.paused ? "resume" : "pause"} ${scheduleId}`] as const,
  ].find(([error]) => error !== null);
  return (
    <>
      <header className="flex min-h-12 shrink-0 items-center gap-2 px-3.5 pt-1.5 max-lg:flex-wrap max-lg:pt-2.5 max-lg:pb-1.5">
        <h2
          className="min-w-0 truncate max-lg:max-w-[calc(100%-120px)] font-mono text-title font-semibold"
          title={scheduleId}
        >
          {scheduleId}
        </h2>
        <CopyIcon text={scheduleId} label="Copy the id" />
        <ScheduleChip schedule={schedule} />
        {readOnly ? null : (
          <span className="ml-auto flex items-center gap-1.5 max-lg:ml-0 max-lg:basis-full">
            <Button
              disabled={turn.isPending}
              onClick={firstClick(() => turn.mutate())}
              data-testid="turn-schedule"
            >
              {schedule.paused ? <Play size={13} aria-hidden /> : <Pause size={13} aria-hidden />}
              {schedule.paused ? "Resume" : "Pause"}
            </Button>
            <Button
              disabled={run.isPending}
              onClick={firstClick(() => run.mutate())}
              data-testid="run-schedule"
            >
              <SkipForward size={13} aria-hidden />
              Run now
            </Button>
            <Menu
              trigger={
                <IconButton label="More" variant="outline" data-testid="schedule-menu">
                  <Ellipsis size={15} aria-hidden />
                </IconButton>
              }
              items={[
                { label: "Edit…", icon: Pencil, onSelect: props.onEdit, testId: "edit-schedule" },
                {
                  label: "Copy run as curl",
                  onSelect: () => {
                    const origin = { baseUrl: window.location.origin, idempotencyKey: crypto.randomUUID() };
                    navigator.clipboard.writeText(curlOf("runSchedule", { scheduleId }, origin)).then(
                      () => showToast("Copied."),
                      () => showToast("The browser refused the clipboard."),
                    );
                  },
                },
                {
                  label: "Delete…",
                  icon: Trash2,
                  danger: true,
                  onSelect: () => setDeleting(true),
                  testId: "delete-schedule",
                },
              ]}
            />
          </span>
        )}
      </header>
      {failed ? <ErrorPanel className="mx-3.5 mb-2" title={failed[1]} error={failed[0]} /> : null}
      <Facts schedule={schedule} />
      <Section
        title={schedule.paused ? "Would fire" : "Fires next"}
        hint={schedule.paused ? "when it is resumed; what it misses until then is not made up" : undefined}
      >
        {schedule.nextTimes.length === 0 ? (
          <p className="text-body text-text-2">No time of this expression lies ahead.</p>
        ) : (
          <NextTimes times={schedule.nextTimes} timeZone={schedule.timeZone} now={now} />
        )}
      </Section>
      <Does schedule={schedule} />
      <Ticks scheduleId={scheduleId} newest={schedule.lastTicks[0]?.n ?? -1} />
      {props.editing ? (
        <ScheduleDialog
          schedule={schedule}
          now={now}
          onClose={props.onEdited}
          onSaved={props.onEdited}
          onRefused={onRefused}
        />
      ) : null}
      {deleting ? (
        <DeleteScheduleDialog
          scheduleId={scheduleId}
          onClose={() => setDeleting(false)}
          onDeleted={props.onDeleted}
        />
      ) : null}
    </>
  );
}

function Facts({ schedule }: { schedule: Detail }) {
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-2.5 border-b border-border px-3.5 pt-1 pb-3.5">
      <Fact name="Cron" mono>
        <span title={schedule.cron}>{schedule.cron}</span>
      </Fact>
      <Fact name="Time zone">{schedule.timeZone}</Fact>
      <Fact name="Missed ticks">
        <span title={misfireWords[schedule.misfire].says(schedule.misfireMax)}>
          {misfireWords[schedule.misfire].name}
        </span>
      </Fact>
      <Fact name={`Revision ${schedule.revision}`}>
        {schedule.updatedBy}, <RelativeTime at={schedule.updatedAt} />
      </Fact>
    </dl>
  );
}

function Does({ schedule: { action } }: { schedule: Detail }) {
  const given = action.kind === "start" ? action.input : action.data;
  return (
    <Section
      title={action.kind === "start" ? "Starts an instance" : "Sends an event"}
      action={
        action.kind === "start" ? (
          <ToPage href={`/instances?chart=${encodeURIComponent(action.chartId)}` as Route}>
            its instances
          </ToPage>
        ) : "instanceId" in action.to ? (
          <ToPage href={`/instances/${encodeURIComponent(action.to.instanceId)}` as Route}>
            the instance
          </ToPage>
        ) : (
          <ToPage href={`/instances?key=${encodeURIComponent(action.to.businessKey)}` as Route}>
            who has the key
          </ToPage>
        )
      }
    >
      <dl className="grid grid-cols-2 gap-x-4 gap-y-2.5">
        {action.kind === "start" ? (
          <>
            <Fact name="Chart">
              {action.chartId}{" "}
              <span className="text-text-3">{action.version === null ? "newest" : `v${action.version}`}</span>
            </Fact>
            <Fact name="Priority">{action.priority}</Fact>
            {action.businessKey === null ? null : (
              <Fact name="Business key" mono>
                {action.businessKey}
              </Fact>
            )}
            {Object.entries(action.labels).map(([key, value]) => (
              <Fact key={key} name={`Label ${key}`} mono>
                {value}
              </Fact>
            ))}
          </>
        ) : (
          <>
            <Fact name="Event" mono>
              {action.type}
            </Fact>
            <Fact name={"instanceId" in action.to ? "Instance" : "Business key"} mono>
              {"instanceId" in action.to ? action.to.instanceId : action.to.businessKey}
            </Fact>
          </>
        )}
      </dl>
      {given === null ? null : (
        <div className="mt-2.5">
          <JsonView value={given} />
        </div>
      )}
    </Section>
  );
}

function ToPage({ href, children }: { href: Route; children: ReactNode }) {
  return (
    <Link href={href} className="rounded-chip text-hint text-accent hover:underline">
      {children}
    </Link>
  );
}

const ticksPageSize = 50;

/** `newest`: a new tick makes the list stale. */
function Ticks({ scheduleId, newest }: { scheduleId: string; newest: number }) {
  const client = useClient();
  const ticks = useInfiniteQuery({
    queryKey: [...queryKeys.schedule(scheduleId), "ticks", newest],
    queryFn: ({ pageParam, signal }) =>
      client.listTicks(
        { scheduleId, limit: ticksPageSize, ...(pageParam === null ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: (before) => before,
  });
  const all: TickView[] = ticks.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Section title="Ticks" hint="newest first; the last 1,000 are kept">
      {ticks.error && !ticks.data ? (
        <ErrorPanel
          title="Couldn’t read the ticks"
          error={ticks.error}
          onRetry={() => void ticks.refetch()}
        />
      ) : !ticks.data ? (
        <SkeletonRows rows={3} />
      ) : all.length === 0 ? (
        <p className="text-body text-text-3">None yet.</p>
      ) : (
        <TickList ticks={all} />
      )}
      {ticks.hasNextPage ? (
        <Button
          variant="link"
          className="mt-1.5"
          disabled={ticks.isFetchingNextPage}
          onClick={() => void ticks.fetchNextPage()}
        >
          Older ticks
        </Button>
      ) : null}
    </Section>
  );
}
