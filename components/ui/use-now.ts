"use client";
/**
 * The browser's clock as state: for "5 m ago" and countdowns. One timer for the whole tab; a hidden tab does not tick.
 */
import { useSyncExternalStore } from "react";

const tickMs = 1_000;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** Milliseconds since the epoch, new each second. 0 during server rendering, where there is no reader's clock. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, read, readOnServer);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    now = Date.now();
    timer = setInterval(tick, tickMs);
    document.addEventListener("visibilitychange", tick);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    document.removeEventListener("visibilitychange", tick);
  };
}

function tick(): void {
  if (document.hidden) return;
  now = Date.now();
  for (const listener of listeners) listener();
}

const read = (): number => now;
const readOnServer = (): number => 0;
