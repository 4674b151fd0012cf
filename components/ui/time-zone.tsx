"use client";
/**
 * The zone in which times are read: chosen once, remembered in this browser, `?zone=` in a shared link wins.
 */
import { createContext, use, useMemo, useSyncExternalStore, type ReactNode } from "react";
import type { Zone } from "./time";

const storageKey = "lockstep.zone";
const changed = "lockstep:zone";
const ZoneContext = createContext<{ zone: Zone; setZone: (zone: Zone) => void }>({
  zone: "utc",
  setZone: () => {},
});

export function TimeZoneProvider({ children }: { children: ReactNode }) {
  const zone = useSyncExternalStore(subscribe, readZone, (): Zone => "utc");
  const value = useMemo(() => ({ zone, setZone: storeZone }), [zone]);
  return <ZoneContext value={value}>{children}</ZoneContext>;
}

export const useZone = () => use(ZoneContext);

/** Chosen in this tab: it also holds where the browser forbids storage. */
let chosen: Zone | null = null;

function readZone(): Zone {
  const wanted = chosen ?? new URLSearchParams(window.location.search).get("zone") ?? readStored();
  return wanted === "local" ? "local" : "utc";
}

function storeZone(zone: Zone): void {
  chosen = zone;
  try {
    window.localStorage.setItem(storageKey, zone);
  } catch {
    // Forgotten when the tab closes: the page still works.
  }
  window.dispatchEvent(new Event(changed));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(changed, listener);
  return () => window.removeEventListener(changed, listener);
}

function readStored(): string | null {
  try {
    return window.localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}
