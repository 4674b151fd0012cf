"use client";
/**
 * Locks whose holder goes by the instance's id, now: the lock log has no seq, so the past is on the lock's own page.
 */
import { useQuery } from "@tanstack/react-query";
import { Lock } from "lucide-react";
import type { Route } from "next";
import Link from "next/link";
import { HealthChip } from "@/components/locks/health-chip";
import { queryKeys } from "@/components/ui/query-keys";
import { Section } from "@/components/ui/section";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { useClient } from "@/components/ui/use-client";

const shownMax = 50;

export function LocksTab({ instanceId }: { instanceId: string }) {
  const client = useClient();
  const locks = useQuery({
    queryKey: [...queryKeys.locks, "held-by", instanceId],
    queryFn: ({ signal }) => client.listLocks({ search: instanceId, limit: shownMax }, { signal }),
  });
  if (locks.error && !locks.data) {
    return (
      <div className="p-3.5">
        <ErrorPanel
          title="Couldn’t read the locks"
          error={locks.error}
          onRetry={() => void locks.refetch()}
        />
      </div>
    );
  }
  if (!locks.data) return <SkeletonRows rows={3} />;
  const held = locks.data.items.filter((lock) => lock.holder === instanceId);
  if (held.length === 0) {
    return (
      <Empty icon={Lock} title="It holds no lock now">
        Locks appear here when their holder is <span className="font-mono text-table">{instanceId}</span>.
      </Empty>
    );
  }
  return (
    <Section title="Held now">
      <ul>
        {held.map((lock) => (
          <li
            key={lock.key}
            className="flex items-center gap-2 border-b border-border py-1.5 last:border-b-0"
          >
            <Link
              href={`/locks?key=${encodeURIComponent(lock.key)}` as Route}
              className="min-w-0 flex-1 truncate rounded-chip font-mono text-table font-semibold hover:underline"
            >
              {lock.key}
            </Link>
            <span className="font-mono text-hint text-text-2">fence {lock.fence}</span>
            <HealthChip lock={lock} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
