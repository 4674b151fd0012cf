"use client";
/**
 * The instance's family, now: whose child it is, and the children that its invocations asked for, by place, page by page.
 *
 * Holds: a family of 10,000 is counted by the server and drawn 50 at a time.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight, GitBranch } from "lucide-react";
import type { Route } from "next";
import Link from "next/link";
import { StatusChip } from "@/components/instances/status-chip";
import { shortStates } from "@/components/instances/state-name";
import { IconButton } from "@/components/ui/button";
import { Chip } from "@/components/ui/chip";
import { queryKeys } from "@/components/ui/query-keys";
import { Segmented } from "@/components/ui/segmented";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import { useClient } from "@/components/ui/use-client";
import { useListPages } from "@/components/ui/use-list-pages";
import { useUrlParams } from "@/components/ui/use-url-params";
import { childStatus, type ChildList, type ChildView, type InstanceView } from "@/lib/contract/instances";
import { familiesOf, recount } from "./family";
import { FamilyTree } from "./family-tree";
import { tasksMax, useTasks } from "./use-tasks";

const pageSize = 50;

export function ChildrenTab({ instance }: { instance: InstanceView }) {
  const client = useClient();
  const [params, setParams] = useUrlParams();
  const tasks = useTasks(instance.id);
  const families = familiesOf(tasks.data?.items ?? []);
  const picked = params.get("family") ?? families[0]?.taskId ?? null;
  const status = childStatus.safeParse(params.get("child")).data;
  const cursor = params.get("cursor");
  const pages = useListPages(cursor, setParams);
  const list = useQuery({
    // Under `instances`: news of any child makes it stale.
    queryKey: [...queryKeys.instances, "children", instance.id, picked, status, cursor],
    queryFn: ({ signal }) =>
      client.listChildren(
        {
          instanceId: instance.id,
          taskId: picked ?? "",
          status,
          limit: pageSize,
          ...(cursor === null ? {} : { cursor }),
        },
        { signal },
      ),
    enabled: picked !== null,
    placeholderData: keepPreviousData,
  });

  if (tasks.error && !tasks.data) {
    return (
      <div className="p-3.5">
        <ErrorPanel
          title="Couldn’t read the family"
          error={tasks.error}
          onRetry={() => void tasks.refetch()}
        />
      </div>
    );
  }
  if (!tasks.data) return <SkeletonRows rows={4} />;
  if (picked === null && !instance.parent) {
    return (
      <Empty icon={GitBranch} title="It has no children yet">
        They appear here when a state that invokes <span className="font-mono text-table">chart</span> or{" "}
        <span className="font-mono text-table">each</span> is entered.
      </Empty>
    );
  }
  const isCurrent = !list.isPlaceholderData;
  const shown = families.map((family) =>
    family.taskId === picked && list.data && isCurrent ? recount(family, list.data.counts) : family,
  );
  return (
    <>
      <FamilyTree
        instance={instance}
        families={shown}
        picked={picked}
        onPick={(taskId) => pages.filter({ family: taskId, child: null })}
      />
      {tasks.data.nextCursor === null ? null : (
        <p className="border-b border-border px-3.5 py-2 text-hint text-text-3">
          Invocations among its newest {formatCount(tasksMax)} tasks.
        </p>
      )}
      {picked === null ? (
        <p className="px-3.5 py-3 text-body text-text-2">It has no children of its own.</p>
      ) : list.error && !list.data ? (
        <div className="p-3.5">
          <ErrorPanel
            title="Couldn’t read the children"
            error={list.error}
            onRetry={() => void list.refetch()}
          />
        </div>
      ) : list.data ? (
        <>
          <StatusFilter
            counts={list.data.counts}
            value={status ?? "all"}
            onChange={(next) => pages.filter({ family: picked, child: next === "all" ? null : next })}
          />
          <Rows items={list.data.items} filtered={status !== undefined} />
          <Turns {...pages.turns(list.data.nextCursor)} items={list.data.items} />
        </>
      ) : (
        <SkeletonRows rows={6} rowHeight={44} />
      )}
    </>
  );
}

type Shown = ChildView["status"] | "all";

function StatusFilter({
  counts,
  value,
  onChange,
}: {
  counts: ChildList["counts"];
  value: Shown;
  onChange: (value: Shown) => void;
}) {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const present = childStatus.options.filter((status) => (counts[status] ?? 0) > 0 || status === value);
  if (present.length < 2 && value === "all") return null;
  return (
    <div className="border-b border-border px-2 py-1.5">
      <Segmented<Shown>
        label="Children by status"
        value={value}
        onValueChange={onChange}
        options={[
          { value: "all", label: "All", count: formatCount(all) },
          ...present.map((status) => ({
            value: status,
            label: shownStatus[status],
            count: formatCount(counts[status] ?? 0),
          })),
        ]}
      />
    </div>
  );
}

const shownStatus: Record<ChildView["status"], string> = {
  running: "Running",
  orphan: "Ending",
  succeeded: "Succeeded",
  failed: "Failed",
  cancelled: "Ended",
};

function Rows({ items, filtered }: { items: readonly ChildView[]; filtered: boolean }) {
  if (items.length === 0) {
    return (
      <p className="px-3.5 py-3 text-body text-text-2" data-testid="no-children">
        {filtered ? "None is like this now." : "None has begun yet."}
      </p>
    );
  }
  return (
    <ol data-testid="children">
      {items.map((child) => (
        <li
          key={child.place}
          data-testid="child"
          className="grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-2 border-b border-border px-3.5 py-1.5"
        >
          <span className="min-w-6 text-right font-mono text-hint text-text-3 tabular-nums" title="place">
            {child.place}
          </span>
          {child.instance ? (
            <Link
              href={`/instances/${encodeURIComponent(child.instanceId)}` as Route}
              className="min-w-0 truncate rounded-chip font-mono text-table font-semibold hover:underline"
              title={child.instanceId}
            >
              {child.instanceId}
            </Link>
          ) : (
            <span className="min-w-0 truncate font-mono text-table" title={child.instanceId}>
              {child.instanceId}
            </span>
          )}
          {child.instance ? <StatusChip status={child.instance.status} /> : <Chip outline>deleted</Chip>}
          <Came child={child} />
        </li>
      ))}
    </ol>
  );
}

/** What came of it, else where it is. */
function Came({ child }: { child: ChildView }) {
  const line = "col-start-2 col-end-4 min-w-0 truncate text-hint";
  if (child.status === "succeeded") {
    const text = JSON.stringify(child.result);
    return (
      <span className={`${line} text-text-2`} title={text.slice(0, 2_000)}>
        result <span className="font-mono">{text.slice(0, 200)}</span>
      </span>
    );
  }
  if (child.error) {
    const text = `${child.error.code}: ${child.error.message}`;
    // Its row names it already.
    const why = text.replace(`child-failed: the child ${child.instanceId} has failed: `, "");
    const tone = child.status === "failed" ? "text-failed" : "text-text-2";
    return (
      <span className={`${line} ${tone}`} title={text.slice(0, 2_000)}>
        {why.slice(0, 200)}
      </span>
    );
  }
  const states = child.instance?.configuration ?? [];
  return (
    <span className={`${line} text-text-2`} title={states.join(", ")}>
      {child.status === "orphan" ? "nobody waits for it any more" : null}
      {child.status === "orphan" && states.length > 0 ? " · " : null}
      {states.length > 0 ? `in ${shortStates(states)}` : null}
    </span>
  );
}

function Turns({
  items,
  onPrevious,
  onNext,
}: {
  items: readonly ChildView[];
  onPrevious: (() => void) | null;
  onNext: (() => void) | null;
}) {
  const [first, last] = [items[0], items.at(-1)];
  if (!first || !last || (!onPrevious && !onNext)) return null;
  return (
    <div className="flex items-center gap-1 px-3.5 py-1.5 text-hint text-text-2 tabular-nums">
      <span className="flex-1">
        places {formatCount(first.place)} to {formatCount(last.place)}
      </span>
      <IconButton
        label="Previous children"
        size="icon-sm"
        disabled={!onPrevious}
        onClick={() => onPrevious?.()}
      >
        <ChevronLeft size={14} aria-hidden />
      </IconButton>
      <IconButton label="More children" size="icon-sm" disabled={!onNext} onClick={() => onNext?.()}>
        <ChevronRight size={14} aria-hidden />
      </IconButton>
    </div>
  );
}
