"use client";
/**
 * One instance, at any moment of its life. One cursor, `seq` in the address, drives chart, list, scrubber and tabs; without
 * it the page is live and follows the newest entry.
 *
 * Holds: a pinned cursor never moves by itself; what is shown was recorded or rebuilt and hash-checked by the server, and a
 * mismatch is said, never hidden.
 */
import { useQuery } from "@tanstack/react-query";
import {
  ArrowRightLeft,
  ChevronDown,
  CircleX,
  CornerLeftUp,
  Ghost,
  GitFork,
  History,
  Hourglass,
  MailX,
  Pause,
  Rewind,
  Send,
  ShieldAlert,
  Trash,
  TriangleAlert,
  Wrench,
  type LucideIcon,
} from "lucide-react";
import type { Route } from "next";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useEffect, useMemo, useState } from "react";
import { ChartCanvas } from "@/components/canvas/chart-canvas";
import { Legend } from "@/components/canvas/legend";
import { ControlDialog } from "@/components/instances/control-dialog";
import {
  canMigrate,
  canReset,
  controlWords,
  haltOf,
  namesIn,
  possibleVerbs,
  waitsFor,
  type ControlVerb,
} from "@/components/instances/control-words";
import { DeadLettersDialog } from "@/components/instances/dead-letters-dialog";
import { StatusChip } from "@/components/instances/status-chip";
import { WithNames } from "@/components/instances/with-names";
import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { Token } from "@/components/ui/chip";
import { cn } from "@/components/ui/class-names";
import { CopyCurl, CopyIcon } from "@/components/ui/copy-button";
import { JsonView } from "@/components/ui/json-view";
import { Kbd } from "@/components/ui/kbd";
import { LiveChip } from "@/components/ui/live-chip";
import { Menu, type MenuItem } from "@/components/ui/menu";
import { PageHeader } from "@/components/ui/page-header";
import { queryKeys } from "@/components/ui/query-keys";
import { Section } from "@/components/ui/section";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { Tabs } from "@/components/ui/tabs";
import { formatAbsolute, formatCount, zoneName } from "@/components/ui/time";
import { RelativeTime } from "@/components/ui/time-text";
import { useZone } from "@/components/ui/time-zone";
import { showToast } from "@/components/ui/toast";
import { useClient } from "@/components/ui/use-client";
import { useKeys } from "@/components/ui/use-keys";
import { useUrlParams } from "@/components/ui/use-url-params";
import { ZoneSwitch } from "@/components/ui/zone-switch";
import { LockstepError } from "@/lib/base/errors";
import { curlOf } from "@/lib/client/curl-of";
import { noMarks } from "@/lib/diagram/marks";
import type { InstanceView, LogEntry } from "@/lib/contract/instances";
import { ChildrenTab } from "./children-tab";
import { DeleteInstanceDialog } from "./delete-instance-dialog";
import { DiffTab } from "./diff-tab";
import { reasonWords, replayStart } from "./entry-words";
import { EventList } from "./event-list";
import { eventTypes } from "./event-types";
import { asksForChildren } from "./family";
import { familyHref } from "./family-tree";
import { ForkDialog } from "./fork-dialog";
import { GoToDialog } from "./go-to-dialog";
import { LocksTab } from "./locks-tab";
import { marksAt } from "./marks-at";
import { MigrateDialog } from "./migrate-dialog";
import { ResetDialog } from "./reset-dialog";
import { Scrubber } from "./scrubber";
import { SendEventDialog } from "./send-event-dialog";
import { StateTab } from "./state-tab";
import { TasksTab } from "./tasks-tab";
import { TimersTab } from "./timers-tab";
import { useChartVersion } from "./use-chart-version";
import { useEntryDetail, useFindEntry, usePrefetchSeq, useStateAt } from "./use-history";
import { WaitsBanner } from "./waits-banner";
import { WhyTab } from "./why-tab";

const tabNames = ["state", "context", "diff", "why", "timers", "tasks", "locks", "children"] as const;
type TabName = (typeof tabNames)[number];
/** What is sent to one that doesn't run waits, and makes no news in the live stream. */
const haltedAgainMs = 2_000;
const haltIcons: Partial<Record<InstanceView["status"], LucideIcon>> = {
  failed: CircleX,
  stuck: TriangleAlert,
  queued: Hourglass,
};
/** Between two entries while playing. */
const playMs = 700;

export function InstancePage({ instanceId }: { instanceId: string }) {
  const client = useClient();
  const instance = useQuery({
    queryKey: queryKeys.instance(instanceId),
    queryFn: ({ signal }) => client.getInstance({ instanceId }, { signal }),
    refetchInterval: ({ state: { data } }) =>
      data && (haltOf(data) ?? waitsFor(data)) ? haltedAgainMs : false,
  });
  if (instance.data) return <TimeTravel instance={instance.data} />;
  const missing = instance.error instanceof LockstepError && instance.error.code === "not-found";
  return (
    <>
      <PageHeader crumbs={[{ label: "Instances", href: "/instances" }]} title={<Mono>{instanceId}</Mono>} />
      <div className="min-h-0 flex-1 bg-surface p-5">
        {missing ? (
          <Empty
            icon={Ghost}
            title={`There is no instance ${instanceId}`}
            action={
              <Button asChild>
                <Link href="/instances">All instances</Link>
              </Button>
            }
          >
            It may have been deleted, or the id is mistyped. Ids are case-sensitive.
          </Empty>
        ) : instance.error ? (
          <ErrorPanel
            title={`Couldn’t open ${instanceId}`}
            error={instance.error}
            onRetry={() => void instance.refetch()}
          />
        ) : (
          <SkeletonRows rows={12} />
        )}
      </div>
    </>
  );
}

function TimeTravel({ instance }: { instance: InstanceView }) {
  const router = useRouter();
  const { zone } = useZone();
  const [params, setParams] = useUrlParams();
  const total = instance.seq;
  const asked = params.get("seq");
  const pinned = asked === null ? null : Number(asked);
  const outside = pinned !== null && !(Number.isInteger(pinned) && pinned >= 1 && pinned <= total);
  const cursor = pinned === null || outside ? total : pinned;
  const live = pinned === null;
  const detail = useEntryDetail(instance.id, cursor);
  const stateQuery = useStateAt(instance.id, cursor);
  const entry = detail.data?.seq === cursor ? detail.data : null;
  const state = stateQuery.data?.seq === cursor ? stateQuery.data : null;
  const {
    version,
    error: versionError,
    retry: retryVersion,
  } = useChartVersion(instance.chartId, stateQuery.data?.version ?? instance.version);
  const prefetch = usePrefetchSeq(instance.id);
  const findEntry = useFindEntry(instance.id, total);
  const [dialog, setDialog] = useState<
    "send" | "go" | "delete" | "fork" | "reset" | "migrate" | "letters" | null
  >(null);
  const [control, setControl] = useState<ControlVerb | null>(null);
  const [playing, setPlaying] = useState(false);
  const newEvents = useNewSince(live, total);
  const tab = tabNames.find((name) => name === params.get("tab")) ?? "why";

  const seek = (seq: number): void => {
    if (total > 0) setParams({ seq: Math.min(total, Math.max(1, seq)) });
  };
  const backToLive = (): void => {
    setPlaying(false);
    setParams({ seq: null, vs: null });
  };
  const find = (step: -1 | 1, what: string, wanted: (candidate: LogEntry) => boolean): void => {
    findEntry(cursor, step, wanted).then(
      (found) => {
        if (found.seq !== null) seek(found.seq);
        else {
          const where = step === -1 ? "before" : "after";
          showToast(
            `No ${what} among the ${formatCount(found.searched)} events ${where} #${formatCount(cursor)}.`,
          );
        }
      },
      (error: unknown) => showToast(error instanceof Error ? error.message : String(error)),
    );
  };
  const findFailure = (step: -1 | 1): void =>
    find(step, "failure", (candidate) => candidate.outcome === "failed");
  const findMoved = (step: -1 | 1): void =>
    find(step, "event that moved", (candidate) => candidate.outcome === "moved");
  useKeys({
    ArrowLeft: () => seek(cursor - 1),
    ArrowRight: () => seek(cursor + 1),
    "shift+ArrowLeft": () => findMoved(-1),
    "shift+ArrowRight": () => findMoved(1),
    "[": () => findFailure(-1),
    "]": () => findFailure(1),
    g: () => setDialog("go"),
    e: () => setDialog("send"),
    " ": () => setPlaying((on) => !on),
    Escape: backToLive,
  });
  useEffect(() => {
    if (!state) return;
    prefetch(cursor - 1);
    if (cursor < total) prefetch(cursor + 1);
  }, [cursor, prefetch, state, total]);
  useEffect(() => {
    if (!playing || !state) return;
    const timer = setTimeout(() => {
      if (cursor < total) setParams({ seq: cursor + 1 });
      else setPlaying(false);
    }, playMs);
    return () => clearTimeout(timer);
  }, [cursor, playing, setParams, state, total]);

  const marks = useMemo(() => {
    // Both or neither: active marks alone would flash before each entry's.
    if (!version || !state || (!entry && !detail.error)) return null;
    return marksAt(version.tree, state.configuration, entry);
  }, [detail.error, entry, state, version]);
  const lastMarks = useLast(marks);
  const types = useMemo(
    () => (version ? eventTypes(version.tree, instance.configuration) : { handled: [], others: [] }),
    [instance.configuration, version],
  );
  const shown = stateQuery.data;
  const hasFamily =
    instance.parent !== null || tab === "children" || (version ? asksForChildren(version.tree) : false);
  const halt = haltOf(instance);
  const verbs = possibleVerbs(instance.status);
  const verbItem = (verb: ControlVerb): MenuItem => ({
    label: `${controlWords[verb].label}…`,
    icon: controlWords[verb].icon,
    danger: controlWords[verb].danger,
    onSelect: () => setControl(verb),
    testId: `control-${verb}`,
  });
  const forkItem = {
    label: `Fork from #${formatCount(cursor)}…`,
    icon: GitFork,
    onSelect: () => setDialog("fork"),
    testId: "fork",
  };

  return (
    <>
      <PageHeader
        crumbs={[{ label: "Instances", href: "/instances" }]}
        title={<Mono>{instance.id}</Mono>}
        actions={
          <>
            {live ? <LiveChip /> : null}
            {/* On a phone the room is for what acts. */}
            <span className="contents max-sm:hidden">
              <ZoneSwitch />
              <CopyCurl
                line={() =>
                  curlOf(
                    "getState",
                    { instanceId: instance.id, seq: cursor },
                    { baseUrl: window.location.origin },
                  )
                }
              />
            </span>
            <Button onClick={() => setDialog("send")} data-testid="send-event">
              <Send size={13} aria-hidden />
              Send test event
            </Button>
            {live ? null : (
              <Button className="max-sm:hidden" onClick={forkItem.onSelect} data-testid="fork-here">
                <GitFork size={13} aria-hidden />
                {forkItem.label}
              </Button>
            )}
            <Menu
              trigger={
                <Button data-testid="repair">
                  <Wrench size={13} aria-hidden />
                  Repair
                  <ChevronDown size={12} aria-hidden className="text-text-3" />
                </Button>
              }
              items={[
                ...verbs.filter((verb) => !controlWords[verb].danger).map(verbItem),
                ...(total > 0 ? [forkItem] : []),
                ...(canMigrate(instance.status)
                  ? [
                      {
                        label: "Migrate…",
                        icon: ArrowRightLeft,
                        onSelect: () => setDialog("migrate"),
                        testId: "migrate",
                      },
                    ]
                  : []),
                {
                  label: "Dead letters…",
                  icon: MailX,
                  onSelect: () => setDialog("letters"),
                  testId: "dead-letters",
                },
                ...(canReset(instance.status)
                  ? [
                      {
                        label: live ? "Reset…" : `Reset to #${formatCount(cursor)}…`,
                        icon: Rewind,
                        danger: true,
                        onSelect: () => setDialog("reset"),
                        testId: "reset",
                      },
                    ]
                  : []),
                ...verbs.filter((verb) => controlWords[verb].danger).map(verbItem),
                { label: "Delete…", icon: Trash, danger: true, onSelect: () => setDialog("delete") },
              ]}
            />
          </>
        }
      >
        <CopyIcon text={instance.id} label="Copy the id" />
        <StatusChip status={instance.status} />
        <Link href={`/charts/${encodeURIComponent(instance.chartId)}` as Route} className="rounded-chip">
          <Token className="font-sans text-text hover:border-line">
            {instance.chartId}{" "}
            <strong className="font-semibold">v{shown?.version ?? instance.version}</strong>
          </Token>
        </Link>
        {instance.businessKey ? <Token>{instance.businessKey}</Token> : null}
        {instance.parent ? (
          <Link href={familyHref(instance.parent)} className="min-w-0 rounded-chip" data-testid="parent">
            <Token className="max-w-64 text-text hover:border-line">
              <CornerLeftUp size={12} aria-hidden className="shrink-0 text-text-3" />
              <span className="font-sans text-text-2">child of</span>
              <span className="truncate">{instance.parent.instanceId}</span>
            </Token>
          </Link>
        ) : null}
      </PageHeader>

      {outside ? (
        <Banner
          tone="wrong"
          icon={ShieldAlert}
          testId="no-such-seq"
          action={
            <Button size="sm" onClick={backToLive}>
              Back to live
            </Button>
          }
        >
          <strong className="font-semibold">There is no event #{asked}.</strong> {instance.id} has the events
          1 to {formatCount(total)}. Shown is the newest.
        </Banner>
      ) : !live ? (
        <Banner
          tone="past"
          icon={History}
          testId="past-banner"
          action={
            <span className="flex items-center gap-3">
              {newEvents > 0 ? (
                <span data-testid="new-events">
                  {formatCount(newEvents)} new {newEvents === 1 ? "event" : "events"}
                </span>
              ) : null}
              <Button
                size="sm"
                className="border-accent text-accent"
                onClick={backToLive}
                data-testid="back-to-live"
              >
                Back to live <Kbd className="border-accent bg-transparent text-accent">Esc</Kbd>
              </Button>
            </span>
          }
        >
          <strong className="font-semibold tabular-nums" data-testid="cursor">
            #{formatCount(cursor)} of {formatCount(total)}
          </strong>{" "}
          · read-only
          {shown?.seq === cursor ? (
            <span className="ml-3 tabular-nums">
              {formatAbsolute(shown.at, zone)} {zoneName(zone)} · <RelativeTime at={shown.at} /> · replayed
              from {replayStart(shown.fromSnapshot)},{" "}
              <span data-testid="hash-check">{shown.hashMatches ? "hash matches" : "hash differs"}</span>
            </span>
          ) : null}
        </Banner>
      ) : null}
      {live && halt ? (
        <Banner
          tone={instance.status === "failed" || instance.status === "stuck" ? "wrong" : "offline"}
          icon={haltIcons[instance.status] ?? Pause}
          testId="halt-banner"
          action={
            <Button size="sm" onClick={() => setControl(halt.verb)} data-testid="halt-action">
              {controlWords[halt.verb].label}…
            </Button>
          }
        >
          <strong className="font-semibold">{halt.title}</strong>{" "}
          <WithNames text={halt.text} names={instance.conditions.slice(0, 1).flatMap(namesIn)} />
          {instance.blockedBy === null ? null : (
            <>
              {" "}
              <Link className="underline" href={`/instances/${encodeURIComponent(instance.blockedBy)}`}>
                Look at <span className="font-mono text-table">{instance.blockedBy}</span>
              </Link>
            </>
          )}
        </Banner>
      ) : null}
      {live && !halt ? <WaitsBanner instance={instance} /> : null}
      {shown && !shown.hashMatches ? (
        <Banner
          tone="wrong"
          icon={ShieldAlert}
          testId="hash-banner"
          action={
            <Button size="sm" onClick={() => setParams({ tab: "state" })}>
              Compare
            </Button>
          }
        >
          <strong className="font-semibold">Replay differs at #{formatCount(shown.seq)}.</strong> Stored and
          rebuilt state don’t match; what is shown is the rebuilt one.
        </Banner>
      ) : null}

      <div className="flex min-h-0 flex-1 max-md:flex-col max-md:overflow-y-auto">
        <EventList
          instanceId={instance.id}
          total={total}
          cursor={cursor}
          tree={version?.tree ?? null}
          onSelect={seek}
        />
        <div className="flex min-w-0 flex-1 flex-col bg-canvas max-md:order-first max-md:h-80 max-md:flex-none">
          <div className="relative min-h-0 flex-1">
            {versionError ? (
              <div className="p-5">
                <ErrorPanel
                  title={`Couldn’t read ${instance.chartId} v${instance.version}`}
                  error={versionError}
                  onRetry={retryVersion}
                />
              </div>
            ) : version ? (
              <ChartCanvas
                chart={version.chart}
                layout={version.layout}
                marks={marks ?? (stateQuery.error ? null : lastMarks) ?? noMarks}
                fitKey={`${instance.chartId} ${instance.version}`}
                label={`${instance.chartId} after event ${cursor}: ${(shown?.configuration ?? []).join(", ")}`}
              />
            ) : null}
            {stateQuery.error ? (
              <div className="absolute inset-x-3 top-3">
                <ErrorPanel
                  title={`Couldn’t rebuild #${formatCount(cursor)}`}
                  error={stateQuery.error}
                  onRetry={() => void stateQuery.refetch()}
                  className="shadow-2"
                />
              </div>
            ) : null}
          </div>
          <div className="flex h-8 shrink-0 items-center px-3.5 max-md:hidden">
            <Legend />
          </div>
        </div>
        <aside
          aria-label={`Event ${cursor}`}
          className={cn(
            "flex shrink-0 flex-col border-l border-border bg-surface max-lg:w-[280px] max-md:min-h-80 max-md:w-full max-md:border-t max-md:border-l-0",
            // One tab more.
            hasFamily ? "w-[400px]" : "w-[348px]",
          )}
        >
          <Tabs<TabName>
            label="What is known about this event"
            value={tab}
            onValueChange={(next) => setParams({ tab: next === "why" ? null : next })}
            tabs={[
              {
                value: "state",
                label: "State",
                content: shown ? (
                  <StateTab state={shown} tree={version?.tree ?? null} />
                ) : (
                  <SkeletonRows rows={6} />
                ),
              },
              {
                value: "context",
                label: "Context",
                content: shown ? (
                  <Section title="Context" hint={`after #${formatCount(shown.seq)}`}>
                    <JsonView value={shown.context} marked={changedPaths(detail.data)} />
                  </Section>
                ) : (
                  <SkeletonRows rows={6} />
                ),
              },
              {
                value: "diff",
                label: "Diff",
                content: shown ? (
                  <DiffTab
                    instanceId={instance.id}
                    total={total}
                    state={shown}
                    against={seqOf(params.get("vs"), total)}
                    onCompare={(vs) => setParams({ vs })}
                  />
                ) : (
                  <SkeletonRows rows={6} />
                ),
              },
              {
                value: "why",
                label: "Why",
                content: detail.error ? (
                  <div className="p-3.5">
                    <ErrorPanel
                      title={`Couldn’t read #${formatCount(cursor)}`}
                      error={detail.error}
                      onRetry={() => void detail.refetch()}
                    />
                  </div>
                ) : detail.data ? (
                  <WhyTab entry={detail.data} tree={version?.tree ?? null} />
                ) : total === 0 ? (
                  <Empty icon={Hourglass} title="Nothing has happened yet">
                    What it does is told here, step by step, from its start on.
                  </Empty>
                ) : (
                  <SkeletonRows rows={6} />
                ),
              },
              {
                value: "timers",
                label: "Timers",
                content: shown ? <TimersTab state={shown} live={live} /> : <SkeletonRows rows={4} />,
              },
              { value: "tasks", label: "Tasks", content: <TasksTab instanceId={instance.id} /> },
              { value: "locks", label: "Locks", content: <LocksTab instanceId={instance.id} /> },
              ...(hasFamily
                ? [
                    {
                      value: "children" as const,
                      label: "Children",
                      content: <ChildrenTab instance={instance} />,
                    },
                  ]
                : []),
            ]}
          />
        </aside>
      </div>

      <Scrubber
        instanceId={instance.id}
        total={total}
        cursor={cursor}
        configuration={state?.configuration ?? null}
        tree={version?.tree ?? null}
        onSeek={seek}
        playing={playing}
        onPlay={() => {
          if (!playing && cursor >= total) setParams({ seq: 1 });
          setPlaying(!playing);
        }}
        onFailure={findFailure}
      />

      {dialog === "send" ? (
        <SendEventDialog
          instanceId={instance.id}
          shownSeq={cursor}
          newestSeq={total}
          types={types}
          status={instance.status}
          onClose={() => setDialog(null)}
          onShowNewest={backToLive}
          onSent={(result) => {
            setDialog(null);
            backToLive();
            showToast(sentWords(result));
          }}
        />
      ) : null}
      {dialog === "go" ? (
        <GoToDialog
          total={total}
          onClose={() => setDialog(null)}
          onGo={(seq) => {
            setDialog(null);
            seek(seq);
          }}
        />
      ) : null}
      {control ? (
        <ControlDialog
          instanceId={instance.id}
          verb={control}
          onClose={() => setControl(null)}
          onDone={({ status, seq, changed }) => {
            setControl(null);
            backToLive();
            showToast(
              changed ? `#${formatCount(seq)}: ${instance.id} is ${status}.` : `It was ${status} already.`,
            );
          }}
        />
      ) : null}
      {dialog === "fork" ? (
        <ForkDialog
          instanceId={instance.id}
          seq={cursor}
          later={total - cursor}
          onClose={() => setDialog(null)}
          onForked={(id) => {
            setDialog(null);
            router.push(`/instances/${encodeURIComponent(id)}` as Route);
          }}
        />
      ) : null}
      {dialog === "reset" ? (
        <ResetDialog
          instance={instance}
          at={live ? null : cursor}
          onClose={() => setDialog(null)}
          onDone={({ seq, configuration }) => {
            setDialog(null);
            backToLive();
            showToast(
              `#${formatCount(seq)}: ${instance.id} was reset and goes on in ${configuration.join(", ")}.`,
            );
          }}
        />
      ) : null}
      {dialog === "migrate" ? (
        <MigrateDialog
          instance={instance}
          onClose={() => setDialog(null)}
          onDone={({ seq, version: to }) => {
            setDialog(null);
            backToLive();
            showToast(`#${formatCount(seq)}: ${instance.id} is on v${to}.`);
          }}
        />
      ) : null}
      {dialog === "letters" ? (
        <DeadLettersDialog
          instanceId={instance.id}
          ended={possibleVerbs(instance.status).length === 0}
          onClose={() => setDialog(null)}
        />
      ) : null}
      {dialog === "delete" ? (
        <DeleteInstanceDialog
          instance={instance}
          onClose={() => setDialog(null)}
          onDeleted={({ replayed }) => {
            showToast(`${instance.id} ${replayed ? "was deleted before" : "is deleted"}. Its log stays.`);
            router.push("/instances");
          }}
        />
      ) : null}
    </>
  );
}

const Mono = ({ children }: { children: string }) => <span className="font-mono text-title">{children}</span>;

function sentWords(result: {
  state: string;
  seq: number | null;
  outcome: string | null;
  reason: string | null;
  configuration: string[];
  pending: number;
}): string {
  if (result.state === "queued" || result.seq === null) {
    return `Queued: ${formatCount(result.pending)} messages wait. It will be applied in order.`;
  }
  const at = `#${formatCount(result.seq)}`;
  switch (result.outcome) {
    case "moved":
      return `${at} moved to ${result.configuration.join(", ")}.`;
    case "handled":
      return `${at} was handled without a move.`;
    case "failed":
      return `${at} failed; state unchanged.`;
    default:
      return `${at} was ignored: ${reasonWords(result.reason)}.`;
  }
}

/** Events that came since the cursor was pinned. */
function useNewSince(live: boolean, total: number): number {
  const [seen, setSeen] = useState({ live, total });
  if (live && seen.total !== total) setSeen({ live, total });
  return live ? 0 : Math.max(0, total - seen.total);
}

/** The newest value that was there: the chart keeps its marks while the next ones load. */
function useLast<T>(value: T | null): T | null {
  const [last, setLast] = useState(value);
  if (value !== null && value !== last) setLast(value);
  return value ?? last;
}

function changedPaths(entry: { microsteps: { changes: { path: string }[] }[] } | undefined): Set<string> {
  return new Set(
    (entry?.microsteps ?? []).flatMap((microstep) => microstep.changes.map((change) => change.path)),
  );
}

function seqOf(text: string | null, total: number): number | null {
  const seq = Number(text);
  return text !== null && Number.isInteger(seq) && seq >= 1 && seq <= total ? seq : null;
}
