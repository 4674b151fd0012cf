"use client";
/**
 * The zone in which times are read: chosen once, remembered in this browser, `?zone=` in a shared link wins.
 */
import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from "react";
import type { Zone } from "./time";

const storageKey = "lockstep.zone";
const ZoneContext = createContext<{ zone: Zone; setZone: (zone: Zone) => void }>({
  zone: "utc",
  setZone: () => {},
});

export function TimeZoneProvider({ children }: { children: ReactNode }) {
  const [zone, setShown] = useState<Zone>("utc");
  useEffect(() => {
    const wanted = new URLSearchParams(window.location.search).get("zone") ?? readStored();
    if (wanted === "local") setShown("local");
  }, []);
  const setZone = useCallback((next: Zone) => {
    setShown(next);
    try {
      window.localStorage.setItem(storageKey, next);
    } catch {
      // A browser that forbids storage forgets the choice: the page still works.
    }
  }, []);
  const value = useMemo(() => ({ zone, setZone }), [zone, setZone]);
  return <ZoneContext value={value}>{children}</ZoneContext>;
}

export const useZone = () => use(ZoneContext);

function readStored(): string | null {
  try {
    return window.localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}
