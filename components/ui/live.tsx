"use client";
/**
 * The tab's one live stream: what changed on the server makes what the page holds stale, and only that is read again.
 *
 * Holds: one EventSource a tab; a hidden tab asks for nothing and catches up when it is seen again; at most one re-read of
 * a thing each 250 ms, however many events it takes.
 */
import { useQueryClient } from "@tanstack/react-query";
import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { change as changeSchema, type Change } from "@/lib/contract/changes";
import { apiPrefix } from "@/lib/client/client";
import { queryKeys } from "./query-keys";

export type LiveStatus = "connecting" | "live" | "offline" | "paused";
type Listener = (change: Change) => void;

const gatherMs = 250;
/** EventSource repeats by itself unless the server refused; then we try again this much later. */
const reopenMs = 2_000;
/** A stream that is back this soon was only cut by a proxy or a restart: nobody needs to read about it. */
const graceMs = 3_000;

interface Live {
  status: LiveStatus;
  /** When the stream was lost, for "Showing 19:46:54". */
  offlineSince: number | null;
  reconnect: () => void;
  listen: (listener: Listener) => () => void;
}
const LiveContext = createContext<Live | null>(null);

export function LiveProvider({ children }: { children: ReactNode }) {
  const queryClient = useQueryClient();
  const [status, setStatus] = useState<LiveStatus>("connecting");
  const [offlineSince, setOfflineSince] = useState<number | null>(null);
  const [attempt, setAttempt] = useState(0);
  const [listeners] = useState(() => new Set<Listener>());

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
        for (const listener of listeners) listener(parsed.data);
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
  }, [attempt, listeners, queryClient]);

  const live = useMemo<Live>(
    () => ({
      status,
      offlineSince,
      reconnect: () => {
        void queryClient.invalidateQueries();
        setAttempt((count) => count + 1);
      },
      listen: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    }),
    [status, offlineSince, listeners, queryClient],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** The stream's state; null where there is none (outside the console). */
export const useLive = (): Live | null => use(LiveContext);

/** Calls `listener` with every change while mounted. */
export function useChanges(listener: Listener): void {
  const live = use(LiveContext);
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => live?.listen((change) => latest.current(change)), [live]);
}

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
