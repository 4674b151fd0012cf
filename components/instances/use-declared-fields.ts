"use client";
/**
 * The fields that a chart's newest version lets its instances be found by (settings.index).
 */
import { useQuery } from "@tanstack/react-query";
import { queryKeys } from "@/components/ui/query-keys";
import { useClient } from "@/components/ui/use-client";
import type { Chart } from "@/lib/statechart/document";

/** Undefined: no chart is chosen, or it is not read yet. */
export function useDeclaredFields(
  version: number | null,
  chartId: string | null,
): readonly string[] | undefined {
  const client = useClient();
  const { data } = useQuery({
    queryKey: queryKeys.version(chartId ?? "", version ?? 0),
    queryFn: ({ signal }) => client.getVersion({ chartId: chartId ?? "", version: version ?? 0 }, { signal }),
    enabled: chartId !== null && version !== null,
    staleTime: Infinity,
    // Published: it has passed every check, so the text is a chart.
    select: ({ text }) => (JSON.parse(text) as Chart).settings?.index ?? [],
  });
  return data;
}
