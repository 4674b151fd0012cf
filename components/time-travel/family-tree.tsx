"use client";
/**
 * A family drawn: whose child the instance is, itself, and each invocation that asked for children with how they fare. To
 * pick an invocation is to list its children.
 *
 * Holds: what the bar shows stands in words below it.
 */
import { useQuery } from "@tanstack/react-query";
import type { Route } from "next";
import Link from "next/link";
import type { ReactNode } from "react";
import { StatusChip } from "@/components/instances/status-chip";
import { shortStateName } from "@/components/instances/state-name";
import { cn } from "@/components/ui/class-names";
import { queryKeys } from "@/components/ui/query-keys";
import { useClient } from "@/components/ui/use-client";
import type { InstanceView } from "@/lib/contract/instances";
import { familyWords, type Family } from "./family";

export function FamilyTree({
  instance,
  families,
  picked,
  onPick,
}: {
  instance: InstanceView;
  families: readonly Family[];
  picked: string | null;
  onPick: (taskId: string) => void;
}) {
  const self = (
    <>
      <Node>
        <span className="min-w-0 truncate font-mono text-table font-semibold" title={instance.id}>
          {instance.id}
        </span>
        <span className="shrink-0 text-hint text-text-3">this one</span>
      </Node>
      {families.length > 0 ? (
        <ul aria-label="Invocations that asked for children">
          {families.map((family, index) => (
            <Branch key={family.taskId} last={index === families.length - 1}>
              <FamilyButton
                family={family}
                picked={family.taskId === picked}
                onPick={() => onPick(family.taskId)}
              />
            </Branch>
          ))}
        </ul>
      ) : null}
    </>
  );
  return (
    <div className="border-b border-border px-3.5 py-3" data-testid="family-tree">
      {instance.parent ? (
        <>
          <ParentNode parent={instance.parent} />
          <ul aria-label="Its child">
            <Branch last>{self}</Branch>
          </ul>
        </>
      ) : (
        self
      )}
    </div>
  );
}

const Node = ({ children }: { children: ReactNode }) => (
  <div className="flex min-h-7 min-w-0 items-center gap-2">{children}</div>
);

/** An elbow from the line above to the middle of the first row. */
function Branch({ last, children }: { last: boolean; children: ReactNode }) {
  return (
    <li
      className={cn(
        "relative pl-5",
        "before:absolute before:top-0 before:left-1.5 before:h-3.5 before:w-2.5 before:rounded-bl-chip before:border-b before:border-l before:border-line",
        !last && "after:absolute after:top-0 after:left-1.5 after:h-full after:border-l after:border-line",
      )}
    >
      {children}
    </li>
  );
}

function ParentNode({ parent }: { parent: NonNullable<InstanceView["parent"]> }) {
  const client = useClient();
  const { data } = useQuery({
    queryKey: queryKeys.instance(parent.instanceId),
    queryFn: ({ signal }) => client.getInstance({ instanceId: parent.instanceId }, { signal }),
    retry: false,
  });
  return (
    <Node>
      <Link
        href={familyHref(parent)}
        className="min-w-0 truncate rounded-chip font-mono text-table font-semibold text-accent hover:underline"
        title={parent.instanceId}
        data-testid="family-parent"
      >
        {parent.instanceId}
      </Link>
      {data ? <StatusChip status={data.status} /> : null}
      <span className="shrink-0 text-hint text-text-3">its parent</span>
    </Node>
  );
}

/** The parent's page, the child's siblings listed. */
export const familyHref = ({ instanceId, taskId }: { instanceId: string; taskId: string }): Route =>
  `/instances/${encodeURIComponent(instanceId)}?tab=children&family=${encodeURIComponent(taskId)}` as Route;

function FamilyButton({ family, picked, onPick }: { family: Family; picked: boolean; onPick: () => void }) {
  return (
    <button
      type="button"
      aria-pressed={picked}
      onClick={onPick}
      data-testid="family"
      className="-mx-1 mb-0.5 block w-[calc(100%+8px)] rounded-control px-1 pb-1.5 text-left hover:bg-surface-2 aria-pressed:bg-accent-soft"
    >
      <span className="flex min-h-7 min-w-0 items-center gap-2">
        <span className="min-w-0 truncate text-body font-semibold">{family.invokeId}</span>
        <span className="min-w-0 truncate text-hint text-text-2" title={family.state}>
          {family.kind}
          {family.chartId === null ? "" : ` ${family.chartId}`} · in {shortStateName(family.state)}
        </span>
      </span>
      {family.total > 1 ? <Bar family={family} /> : null}
      <span className="block text-hint text-text-2 tabular-nums">{familyWords(family)}</span>
    </button>
  );
}

function Bar({ family }: { family: Family }) {
  const parts = [
    [family.succeeded, "bg-text-3"],
    [family.failed, "bg-failed"],
    [family.running, "bg-active"],
    [family.ended, "bg-border-2"],
  ] as const;
  return (
    <span aria-hidden className="mb-1 flex h-1.5 w-full gap-px overflow-hidden rounded-chip bg-surface-3">
      {parts.map(([count, color]) =>
        count === 0 ? null : (
          // 2 px: one failure among 10,000 must be seen.
          <span
            key={color}
            className={cn("min-w-[2px]", color)}
            style={{ width: `${(100 * count) / family.total}%` }}
          />
        ),
      )}
    </span>
  );
}
