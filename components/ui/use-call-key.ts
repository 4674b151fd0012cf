"use client";
/**
 * Idempotency keys of a dialog's call: what is asked again gets the key that it had, so that two presses are one call, and
 * what is asked differently another.
 */
import { useCallback, useRef } from "react";

export function useCallKey(): (asked: object) => string {
  const keys = useRef(new Map<string, string>());
  return useCallback((asked) => {
    const name = JSON.stringify(asked);
    const key = keys.current.get(name) ?? crypto.randomUUID();
    keys.current.set(name, key);
    return key;
  }, []);
}
