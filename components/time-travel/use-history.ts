"use client";
/**
 * An instance's past as the page reads it: by seq, in fixed pages, each entry once.
 *
 * Holds: seq has no gaps, so a place in the list is a seq and any part of a long log is read without what lies between;
 * what was read never changes and is never read again; a search reads at most `searchPagesMax` pages.
 */
import { keepPreviousData, queryOptions, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { queryKeys } from "@/components/ui/query-keys";
import { useClient } from "@/components/ui/use-client";
import type { Client } from "@/lib/client/client";
import type { LogEntry } from "@/lib/contract/instances";

export const pageSize = 200;
const searchPagesMax = 10;
const foreverMs = Infinity;
/** Pages read earlier stay for a while, then go: a log of a million entries does not fill the tab. */
const keptMs = 5 * 60_000;

export const pageOf = (seq: number): number => Math.floor((seq - 1) / pageSize);

function pageQuery(client: Client, instanceId: string, page: number, total: number) {
  const filled = Math.min(pageSize, total - page * pageSize);
  return queryOptions({
    // The last page grows: its length is part of its name.
    queryKey: [...queryKeys.history(instanceId), "page", page, filled],
    queryFn: ({ signal }) =>
      client.getLog({ instanceId, before: page * pageSize + filled + 1, limit: filled }, { signal }),
    staleTime: foreverMs,
    gcTime: keptMs,
  });
}

/** Entries of the given pages by seq. `total` is the newest seq. */
export function useEntries(instanceId: string, pages: readonly number[], total: number) {
  const client = useClient();
  const existing = pages.filter((page) => page >= 0 && page * pageSize < total);
  return useQueries({
    queries: existing.map((page) => ({
      ...pageQuery(client, instanceId, page, total),
      placeholderData: keepPreviousData,
    })),
    combine: (results) => {
      const bySeq = new Map<number, LogEntry>();
      for (const { data } of results) for (const entry of data?.items ?? []) bySeq.set(entry.seq, entry);
      return {
        bySeq,
        error: results.find((result) => result.error)?.error ?? null,
        retry: () => {
          for (const result of results) if (result.error) void result.refetch();
        },
      };
    },
  });
}

function detailQuery(client: Client, instanceId: string, seq: number) {
  return queryOptions({
    queryKey: [...queryKeys.history(instanceId), "entry", seq],
    queryFn: ({ signal }) => client.getLogEntry({ instanceId, seq }, { signal }),
    staleTime: foreverMs,
    gcTime: keptMs,
  });
}

function stateQuery(client: Client, instanceId: string, seq: number) {
  return queryOptions({
    queryKey: [...queryKeys.history(instanceId), "state", seq],
    queryFn: ({ signal }) => client.getState({ instanceId, seq }, { signal }),
    staleTime: foreverMs,
    gcTime: keptMs,
  });
}

/** The entry with its microsteps. While another one loads, the last stays. */
export function useEntryDetail(instanceId: string, seq: number) {
  const client = useClient();
  return useQuery({
    ...detailQuery(client, instanceId, seq),
    enabled: seq > 0,
    placeholderData: keepPreviousData,
  });
}

/** The state after the entry, rebuilt by the server. */
export function useStateAt(instanceId: string, seq: number) {
  const client = useClient();
  return useQuery({
    ...stateQuery(client, instanceId, seq),
    enabled: seq > 0,
    placeholderData: keepPreviousData,
  });
}

/** Reads a neighbour ahead, so that the next arrow key shows it at once. */
export function usePrefetchSeq(instanceId: string) {
  const client = useClient();
  const queryClient = useQueryClient();
  return useCallback(
    (seq: number) => {
      if (seq < 1) return;
      void queryClient.prefetchQuery(detailQuery(client, instanceId, seq));
      void queryClient.prefetchQuery(stateQuery(client, instanceId, seq));
    },
    [client, instanceId, queryClient],
  );
}

export type Found = { seq: number } | { seq: null; searched: number };

/** The next entry before (-1) or after (1) `from` that `wanted` accepts. */
export function useFindEntry(instanceId: string, total: number) {
  const client = useClient();
  const queryClient = useQueryClient();
  return useCallback(
    async (from: number, step: -1 | 1, wanted: (entry: LogEntry) => boolean): Promise<Found> => {
      let searched = 0;
      let page = pageOf(from + step);
      for (
        let read = 0;
        read < searchPagesMax && page >= 0 && page * pageSize < total;
        read++, page += step
      ) {
        const { items } = await queryClient.fetchQuery(pageQuery(client, instanceId, page, total));
        const ordered = step === -1 ? items : [...items].reverse();
        for (const entry of ordered) {
          if (step === -1 ? entry.seq >= from : entry.seq <= from) continue;
          searched++;
          if (wanted(entry)) return { seq: entry.seq };
        }
      }
      return { seq: null, searched };
    },
    [client, instanceId, queryClient, total],
  );
}
