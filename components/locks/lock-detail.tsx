"use client";
/**
 * One lock: who holds it, how long still, who waits, what happened to it.
 */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Ghost } from "lucide-react";
import type { Route } from "next";
import Link from "next/link";
import { useState } from "react";
import { shortStates } from "@/components/instances/state-name";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { CopyIcon } from "@/components/ui/copy-button";
import { queryKeys } from "@/components/ui/query-keys";
import { Fact, Section } from "@/components/ui/section";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatAbsolute, formatClock, formatCount, formatDuration, zoneName } from "@/components/ui/time";
import { useZone } from "@/components/ui/time-zone";
import { useClient } from "@/components/ui/use-client";
import { LockstepError } from "@/lib/base/errors";
import type { LockLogEntry, LockView } from "@/lib/contract/locks";
import { ForceReleaseDialog } from "./force-release-dialog";
import { HealthChip } from "./health-chip";
import { LeaseLeft } from "./lease-left";
import { foldRenewals, grantsOf, type Grant } from "./lock-history";
import { lockEntryLooks, lockEntryText, waitWords } from "./lock-words";
import { useDatabaseNow } from "./use-database-now";
import { isCooling } from "./verdict";

const rereadMs = 2_000;
const logPageSize = 100;

export function LockDetail({
  lockKey,
  releasing,
  onRelease,
}: {
  lockKey: string;
  releasing: boolean;
  onRelease: (releasing: boolean) => void;
}) {
  const client = useClient();
  const lock = useQuery({
    queryKey: queryKeys.lock(lockKey),
    queryFn: ({ signal }) => client.getLock({ key: lockKey }, { signal }),
    refetchInterval: rereadMs,
  });
  const now = useDatabaseNow(lock.data, lock.dataUpdatedAt);
  const missing = lock.error instanceof LockstepError && lock.error.code === "not-found";
  return (
    <aside
      aria-label={`Lock ${lockKey}`}
      data-testid="lock-detail"
      data-lock={lockKey}
      className="flex w-[500px] shrink-0 flex-col overflow-y-auto border-l border-border bg-surface max-lg:w-[380px] max-md:w-full max-md:overflow-visible max-md:border-t max-md:border-l-0"
    >
      <header className="flex min-h-12 shrink-0 items-center gap-2 px-3.5 pt-1.5">
        <h2 className="min-w-0 truncate font-mono text-title font-semibold" title={lockKey}>
          {lockKey}
        </h2>
        <CopyIcon text={lockKey} label="Copy the key" />
        {lock.data ? <HealthChip lock={lock.data} /> : null}
        {lock.data && (lock.data.status !== "free" || isCooling(lock.data)) ? (
          <Button
            variant="danger-outline"
            className="ml-auto"
            onClick={() => onRelease(true)}
            data-testid="force-release"
          >
            {isCooling(lock.data) ? "End the cooling…" : "Force release…"}
          </Button>
        ) : null}
      </header>
      {missing ? (
        <Empty icon={Ghost} title={`There is no lock ${lockKey}`}>
          Nobody has ever acquired this key, or it was purged. Keys are case-sensitive.
        </Empty>
      ) : lock.error && !lock.data ? (
        <div className="p-3.5">
          <ErrorPanel
            title={`Couldn’t read ${lockKey}`}
            error={lock.error}
            onRetry={() => void lock.refetch()}
          />
        </div>
      ) : !lock.data || now === null ? (
        <SkeletonRows rows={8} />
      ) : (
        <>
          <Facts lock={lock.data} now={now} />
          <Queue lock={lock.data} now={now} />
          <History lockKey={lockKey} fence={lock.data.fence} now={now} />
          {releasing ? (
            <ForceReleaseDialog lockKey={lockKey} opened={lock.data} onClose={() => onRelease(false)} />
          ) : null}
        </>
      )}
    </aside>
  );
}

function Facts({ lock, now }: { lock: LockView; now: number }) {
  const held = lock.status !== "free";
  return (
    <dl className="grid grid-cols-4 gap-x-4 gap-y-2.5 border-b border-border px-3.5 pt-1 pb-3.5">
      <Fact name="Holder" mono>
        {lock.holder === null || !held ? (
          "–"
        ) : lock.instance ? (
          <Link
            href={`/instances/${encodeURIComponent(lock.instance.id)}` as Route}
            className="rounded-chip text-accent hover:underline"
            title={lock.holder}
          >
            {lock.holder}
          </Link>
        ) : (
          <span title={lock.holder}>{lock.holder}</span>
        )}
      </Fact>
      <Fact name="In state">
        {lock.instance && held ? (
          <span title={lock.instance.configuration.join(", ")}>
            {shortStates(lock.instance.configuration) || lock.instance.status}
          </span>
        ) : (
          "–"
        )}
      </Fact>
      <Fact name="Session" mono>
        <span title={lock.session ?? undefined}>{(held && lock.session) || "–"}</span>
      </Fact>
      <Fact name="Held for">
        <span className="tabular-nums">
          {held && lock.acquiredAt !== null ? span(now - lock.acquiredAt) : "–"}
        </span>
      </Fact>
      <Fact name="Lease left">
        <LeaseLeft lock={lock} now={now} />
      </Fact>
      <Fact name="Last renewed">
        <span className="tabular-nums">
          {held && lock.renewedAt !== null
            ? now - lock.renewedAt < 1_000
              ? "just now"
              : `${span(now - lock.renewedAt)} ago`
            : "–"}
        </span>
      </Fact>
      <Fact name="Fence" mono>
        <span data-testid="lock-fence">{formatCount(lock.fence)}</span>
      </Fact>
      <Fact name="Rejected writes">
        <span
          data-testid="rejected-writes"
          className={cn("tabular-nums", lock.rejectedWrites > 0 && "font-semibold text-failed")}
        >
          {formatCount(lock.rejectedWrites)}
        </span>
      </Fact>
      {held && lock.holdUntil !== null ? (
        <Fact name="May be held">
          <span className="tabular-nums" title="However often it is renewed">
            {span(Math.max(0, lock.holdUntil - now))} more
          </span>
        </Fact>
      ) : null}
      {lock.coolUntil !== null && lock.coolUntil > now ? (
        <Fact name="Cooling">
          <span className="tabular-nums" title="Nobody else is to have it before">
            {span(lock.coolUntil - now)} left
          </span>
        </Fact>
      ) : null}
    </dl>
  );
}

function Queue({ lock, now }: { lock: LockView; now: number }) {
  return (
    <Section title="Queue" hint="first in, first out">
      {lock.queue.length === 0 ? (
        <p className="text-text-2">Nobody waits for it.</p>
      ) : (
        <ol>
          {lock.queue.map((waiter) => (
            <li
              key={waiter.session}
              className="flex h-7 items-center gap-3 border-b border-border text-table last:border-b-0"
            >
              <span className="w-4 text-text-3 tabular-nums">{waiter.position}</span>
              <span className="min-w-0 flex-1 truncate">
                <span className="font-mono font-semibold" title={waiter.session}>
                  {waiter.holder}
                </span>
                <WithOthers keys={waiter.keys.filter((key) => key !== lock.key)} />
              </span>
              <span className="text-text-2" title={waitWords[waiter.waitsFor]}>
                {waiter.givesUpAt === null
                  ? "waits without limit"
                  : `gives up in ${span(waiter.givesUpAt - now)}`}
              </span>
              <span className="w-20 text-right tabular-nums">{span(now - waiter.since)}</span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

/** All of its keys or none. */
function WithOthers({ keys }: { keys: readonly string[] }) {
  if (keys.length === 0) return null;
  return (
    <span className="text-text-3" title={`It waits for all of them at once: ${keys.join(", ")}`}>
      {" "}
      with <span className="font-mono">{keys[0]}</span>
      {keys.length > 1 ? ` and ${formatCount(keys.length - 1)} more` : ""}
    </span>
  );
}

function History({ lockKey, fence, now }: { lockKey: string; fence: number; now: number }) {
  const client = useClient();
  const { zone } = useZone();
  const [folded, setFolded] = useState(true);
  const log = useInfiniteQuery({
    // A new fence is news in the log; renewals are caught by the interval.
    queryKey: [...queryKeys.lock(lockKey), "log", fence],
    queryFn: ({ pageParam, signal }) =>
      client.getLockLog(
        { key: lockKey, limit: logPageSize, ...(pageParam === null ? {} : { before: pageParam }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => {
      const oldest = last.items.at(-1);
      return oldest && oldest.seq > 1 && last.items.length === logPageSize ? String(oldest.seq) : null;
    },
    placeholderData: (previous) => previous,
  });
  const entries = log.data?.pages.flatMap((page) => page.items) ?? [];
  const total = log.data?.pages[0]?.total;
  const lines = folded ? foldRenewals(entries) : entries.map((entry) => ({ kind: "entry" as const, entry }));
  return (
    <Section
      title="History"
      hint={total === undefined ? undefined : total === 1 ? "1 entry" : `${formatCount(total)} entries`}
      action={
        <Button variant="link" aria-pressed={folded} onClick={() => setFolded(!folded)}>
          {folded ? "Renewals folded" : "Fold renewals"}
        </Button>
      }
    >
      {log.error && !log.data ? (
        <ErrorPanel title="Couldn’t read the history" error={log.error} onRetry={() => void log.refetch()} />
      ) : !log.data ? (
        <SkeletonRows rows={5} rowHeight={26} />
      ) : (
        <>
          <GrantStrip grants={grantsOf(entries)} now={now} />
          <ul className="-mx-3.5 mt-1.5" data-testid="lock-history">
            {lines.map((line) =>
              line.kind === "entry" ? (
                <EntryLine key={line.entry.seq} entry={line.entry} at={line.entry.at} />
              ) : (
                <li key={`r${line.seq}`} className={lineClass} data-type="RENEWED">
                  <Moment at={line.to} />
                  <TypeWord type="RENEWED" count={line.count} />
                  <span className="min-w-0 flex-1 truncate text-text-2">
                    {line.holder ?? "nobody"}
                    {line.count > 1 ? `, about every ${span((line.to - line.from) / (line.count - 1))}` : ""}
                  </span>
                </li>
              ),
            )}
          </ul>
          {log.hasNextPage ? (
            <Button
              size="sm"
              className="mt-2"
              disabled={log.isFetchingNextPage}
              onClick={() => void log.fetchNextPage()}
            >
              {log.isFetchingNextPage ? "Reading…" : "Earlier entries"}
            </Button>
          ) : null}
          <p className="sr-only">Times in {zoneName(zone)}</p>
        </>
      )}
    </Section>
  );
}

const lineClass = "flex h-[26px] items-center gap-3 border-b border-border px-3.5 text-table";

function EntryLine({ entry, at }: { entry: LockLogEntry; at: number }) {
  const text = lockEntryText(entry);
  return (
    <li className={lineClass} data-testid="lock-log-entry" data-type={entry.type}>
      <Moment at={at} />
      <TypeWord type={entry.type} />
      <span className="min-w-0 flex-1 truncate text-text-2" title={text}>
        {text}
      </span>
    </li>
  );
}

function Moment({ at }: { at: number }) {
  const { zone } = useZone();
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={`${formatAbsolute(at, zone)} ${zoneName(zone)}`}
      className="w-[58px] shrink-0 font-mono text-hint text-text-3 tabular-nums"
    >
      {formatClock(at, zone, "coarse")}
    </time>
  );
}

function TypeWord({ type, count = 1 }: { type: LockLogEntry["type"]; count?: number }) {
  const look = lockEntryLooks[type];
  return (
    <span className="flex w-[132px] shrink-0 items-center gap-1.5">
      <look.icon size={13} aria-hidden className={cn("shrink-0", look.tone)} />
      <span className="font-medium">{type}</span>
      {count > 1 ? <span className="text-text-2"> × {count}</span> : null}
    </span>
  );
}

const stripShown = 6;

/** The last grants side by side, each as wide as it lasted. */
function GrantStrip({ grants, now }: { grants: Grant[]; now: number }) {
  const { zone } = useZone();
  const shown = grants.slice(-stripShown);
  const first = shown[0];
  const last = shown.at(-1);
  if (!first || !last) return null;
  const end = last.to ?? now;
  const whole = Math.max(1, end - first.from);
  return (
    <div aria-hidden>
      <div className="relative h-5">
        {shown.map((grant) => {
          const left = ((grant.from - first.from) / whole) * 100;
          const width = (((grant.to ?? now) - grant.from) / whole) * 100;
          const held = grant.to === null;
          return (
            <div
              key={`${grant.fence} ${grant.from}`}
              title={`${grant.holder}, fence ${grant.fence}${grant.end ? `, ${grant.end}` : ""}`}
              className={cn(
                "absolute inset-y-0 overflow-hidden rounded-kbd border px-1.5 text-micro leading-[18px] whitespace-nowrap",
                held ? "border-taken bg-taken-soft text-taken" : "border-border-2 bg-surface-3 text-text-2",
                grant.end === "forced" && "border-r-2 border-r-failed",
              )}
              style={{ left: `${left}%`, width: `max(6px, calc(${width}% - 2px))` }}
            >
              {width > 14 ? `${grant.holder} · fence ${grant.fence}` : ""}
            </div>
          );
        })}
      </div>
      <div className="mt-0.5 flex justify-between font-mono text-micro text-text-3">
        <span>{formatClock(first.from, zone, "coarse")}</span>
        <span>{last.to === null ? "now" : formatClock(end, zone, "coarse")}</span>
      </div>
    </div>
  );
}

const span = (ms: number): string => formatDuration(Math.max(0, Math.floor(ms / 1_000) * 1_000));
