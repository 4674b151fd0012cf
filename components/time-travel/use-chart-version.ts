"use client";
/**
 * The chart version an entry was decided by, as a drawing and as a tree.
 */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { queryKeys } from "@/components/ui/query-keys";
import { useClient } from "@/components/ui/use-client";
import type { Layout } from "@/lib/diagram/layout";
import { chartTree, type ChartTree } from "@/lib/diagram/chart-tree";
import type { Chart } from "@/lib/statechart/document";

export interface ChartVersion {
  chart: Chart;
  layout: Layout;
  tree: ChartTree;
}

/** A published version never changes: read once. */
export function useChartVersion(chartId: string | undefined, version: number | undefined) {
  const client = useClient();
  const query = useQuery({
    queryKey: queryKeys.version(chartId ?? "", version ?? 0),
    queryFn: ({ signal }) => client.getVersion({ chartId: chartId ?? "", version: version ?? 0 }, { signal }),
    enabled: chartId !== undefined && version !== undefined,
    staleTime: Infinity,
  });
  const value = useMemo<ChartVersion | null>(() => {
    if (!query.data) return null;
    // Published: it has passed every check, so the text is a chart.
    const chart = JSON.parse(query.data.text) as Chart;
    return { chart, layout: query.data.layout as Layout, tree: chartTree(chart) };
  }, [query.data]);
  return { version: value, error: query.error, retry: () => void query.refetch() };
}
