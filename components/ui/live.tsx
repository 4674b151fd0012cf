"use client";
/**
 * The tab's one live stream: what changed on the server makes what the page holds stale, and only that is read again.
 *
 * Holds: one EventSource a tab; a hidden tab asks for nothing and catches up when it is seen again; at most one re-read of
 * a thing each 100 ms, however many events it takes.
 */
import { useQueryClient } from "@tanstack/react-query";
import { createContext, use, useEffect, useMemo, useState, type ReactNode } from "react";
import { change as changeSchema, type Change } from "@/lib/contract/changes";
import { apiPrefix } from "@/lib/client/client";
import { queryKeys } from "./query-keys";

export type LiveStatus = "connecting" | "live" | "offline" | "paused";

const gatherMs = 100;
/** EventSource repeats by itself unless the server refused; then we try again this much later. */
const reopenMs = 2_000;
/** A stream that is back this soon was only cut by a proxy or a restart: nobody needs to read about it. */
const graceMs = 3_000;

interface Live {
  status: LiveStatus;
  /** When the stream was lost, for "Showing 19:46:54". */
  offlineSince: number | null;
  reconnect: () => void;
}
const LiveContext = createContext<Live | null>(null);

export function LiveProvider({ children }: { children: ReactNode }) {
  const queryClient = useQueryClient();
  const [status, setStatus] = useState<LiveStatus>("connecting");
  const [offlineSince, setOfflineSince] = useState<number | null>(null);
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    let source: EventSource | null = null;
    let reopen: ReturnType<typeof setTimeout> | undefined;
    let flush: ReturnType<typeof setTimeout> | undefined;
    let grace: ReturnType<typeof setTimeout> | undefined;
    let wasLost = false;
    const stale = new Map<string, readonly string[]>();

    const markStale = (...keys: (readonly string[])[]): void => {
      for (const key of keys) stale.set(key.join("\0"), key);
      flush ??= setTimeout(() => {
        flush = undefined;
        const batch = [...stale.values()];
        stale.clear();
        for (const queryKey of batch) void queryClient.invalidateQueries({ queryKey });
      }, gatherMs);
    };
    const refreshAll = (): void => {
      void queryClient.invalidateQueries();
    };
    const open = (): void => {
      source = new EventSource(`${apiPrefix}/changes`);
      source.addEventListener("open", () => {
        clearTimeout(grace);
        grace = undefined;
        setStatus("live");
        setOfflineSince(null);
        if (wasLost) refreshAll();
        wasLost = false;
      });
      source.addEventListener("error", () => {
        wasLost = true;
        setOfflineSince((since) => since ?? Date.now());
        grace ??= setTimeout(() => setStatus("offline"), graceMs);
        if (source?.readyState !== EventSource.CLOSED) return;
        clearTimeout(reopen);
        reopen = setTimeout(open, reopenMs);
      });
      source.addEventListener("resync", refreshAll);
      source.addEventListener("change", (event: MessageEvent<string>) => {
        const parsed = changeSchema.safeParse(readJson(event.data));
        if (!parsed.success) return;
        markStale(...keysOf(parsed.data));
      });
    };
    const close = (): void => {
      clearTimeout(reopen);
      clearTimeout(grace);
      grace = undefined;
      clearTimeout(flush);
      flush = undefined;
      source?.close();
      source = null;
    };
    const onVisibility = (): void => {
      if (document.hidden) {
        close();
        wasLost = true;
        setStatus("paused");
      } else if (!source) {
        setStatus("connecting");
        open();
      }
    };
    onVisibility();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      document.removeEventListener("visibilitychange", onVisibility);
      close();
    };
  }, [attempt, queryClient]);

  const live = useMemo<Live>(
    () => ({
      status,
      offlineSince,
      reconnect: () => {
        void queryClient.invalidateQueries();
        setAttempt((count) => count + 1);
      },
    }),
    [status, offlineSince, queryClient],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** The stream's state; null where there is none (outside the console). */
export const useLive = (): Live | null => use(LiveContext);

function keysOf(change: Change): (readonly string[])[] {
  if (change.kind === "instance")
    return [queryKeys.instance(change.id), queryKeys.instances, queryKeys.charts];
  if (change.kind === "lock") return [queryKeys.lock(change.key), queryKeys.locks];
  return [queryKeys.chart(change.id), queryKeys.charts];
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
