"use client";
/**
 * The chosen chart beside the library: its drawing, its versions, what runs of it.
 */
import { useQuery } from "@tanstack/react-query";
import { FileWarning, Pencil, Play } from "lucide-react";
import type { Route } from "next";
import Link from "next/link";
import { useMemo } from "react";
import { ChartCanvas } from "@/components/canvas/chart-canvas";
import { StatusChip } from "@/components/instances/status-chip";
import { Button } from "@/components/ui/button";
import { CopyIcon } from "@/components/ui/copy-button";
import { queryKeys } from "@/components/ui/query-keys";
import { Section } from "@/components/ui/section";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import { RelativeTime } from "@/components/ui/time-text";
import { useClient } from "@/components/ui/use-client";
import type { Layout } from "@/lib/diagram/layout";
import type { Chart } from "@/lib/statechart/document";
import { validateChart } from "@/lib/statechart/validate";

const versionsShown = 20;
const hashShown = 10;

export function ChartPreview({ chartId }: { chartId: string }) {
  const client = useClient();
  const query = useQuery({
    queryKey: queryKeys.chart(chartId),
    queryFn: ({ signal }) => client.getChart({ chartId }, { signal }),
  });
  const text = query.data?.draft.text;
  const chart = useMemo(() => (text === undefined ? null : draftChart(text)), [text]);
  const address = `/charts/${encodeURIComponent(chartId)}` as Route;
  return (
    <aside
      aria-label={`Chart ${chartId}`}
      data-testid="chart-preview"
      className="flex w-[460px] shrink-0 flex-col overflow-y-auto border-l border-border bg-surface max-xl:w-[380px] max-md:w-full max-md:overflow-visible max-md:border-t max-md:border-l-0"
    >
      <header className="flex min-h-11 shrink-0 items-center gap-1.5 border-b border-border px-3.5">
        <h2 className="min-w-0 truncate font-mono text-title font-semibold" title={chartId}>
          {chartId}
        </h2>
        <CopyIcon text={chartId} label="Copy the name" />
        <span className="ml-auto flex gap-1.5">
          {query.data && query.data.version !== null ? (
            <Button asChild size="sm">
              <Link href={`/instances?start=1&start-chart=${encodeURIComponent(chartId)}` as Route}>
                <Play size={12} aria-hidden />
                Start…
              </Link>
            </Button>
          ) : null}
          <Button asChild size="sm">
            <Link href={address}>
              <Pencil size={12} aria-hidden />
              Open
            </Link>
          </Button>
        </span>
      </header>
      {query.error && !query.data ? (
        <div className="p-3.5">
          <ErrorPanel
            title={`Couldn’t read ${chartId}`}
            error={query.error}
            onRetry={() => void query.refetch()}
          />
        </div>
      ) : !query.data ? (
        <SkeletonRows rows={6} />
      ) : (
        <>
          <div className="relative h-[340px] shrink-0 border-b border-border bg-canvas">
            {chart ? (
              <ChartCanvas
                chart={chart}
                layout={query.data.draft.layout as Layout}
                fitKey={`${chartId} ${query.data.draft.revision}`}
                label={`Drawing of ${chartId}`}
                controls={false}
              />
            ) : (
              <Empty icon={FileWarning} title="The draft isn’t a chart yet">
                Its text has an error. Open it to see where.
              </Empty>
            )}
          </div>
          <Section title="Instances">
            {Object.values(query.data.instances).every((count) => count === 0) ? (
              <p className="text-text-2">None has been started.</p>
            ) : (
              <ul className="flex flex-wrap gap-x-4 gap-y-1.5">
                {Object.entries(query.data.instances)
                  .filter(([, count]) => count > 0)
                  .map(([status, count]) => (
                    <li key={status}>
                      <Link
                        href={`/instances?chart=${encodeURIComponent(chartId)}&status=${status}` as Route}
                        className="flex items-center gap-1.5 rounded-chip hover:underline"
                      >
                        <span className="font-semibold tabular-nums">{formatCount(count)}</span>
                        <StatusChip status={status} />
                      </Link>
                    </li>
                  ))}
              </ul>
            )}
          </Section>
          <Section
            title="Versions"
            hint={`draft r${formatCount(query.data.draft.revision)}, saved by ${query.data.draft.savedBy}`}
          >
            {query.data.versions.length === 0 ? (
              <p className="text-text-2">Not published yet: nothing can run of it.</p>
            ) : (
              <ol>
                {[...query.data.versions]
                  .sort((a, b) => b.version - a.version)
                  .slice(0, versionsShown)
                  .map((version) => (
                    <li
                      key={version.version}
                      className="flex h-7 items-center gap-3 border-b border-border text-table last:border-b-0"
                    >
                      <span className="w-8 font-semibold">v{version.version}</span>
                      <span className="font-mono text-hint text-text-3" title={version.hash}>
                        {version.hash.slice(0, hashShown)}
                      </span>
                      <span className="min-w-0 flex-1 truncate text-text-2" title={version.note ?? undefined}>
                        {version.note ?? `from draft r${version.revision}`}
                      </span>
                      <span className="shrink-0 text-text-3">
                        <RelativeTime at={version.publishedAt} />
                      </span>
                    </li>
                  ))}
              </ol>
            )}
          </Section>
        </>
      )}
    </aside>
  );
}

/** null: the text is being edited as code and is no chart at the moment. */
function draftChart(text: string): Chart | null {
  try {
    return validateChart(JSON.parse(text)).chart;
  } catch {
    return null;
  }
}
