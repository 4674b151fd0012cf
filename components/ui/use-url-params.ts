"use client";
/**
 * Page state in the address: what is shown can be linked, and Back undoes it.
 */
import { useSearchParams } from "next/navigation";
import { useCallback } from "react";

export type UrlPatch = Record<string, string | number | readonly string[] | null | undefined>;

/**
 * The query string, and a setter that changes only the named parameters; null or "" removes one, a list stands there as often as
 * it has members. `push` makes a step that
 * Back returns from; without it the address is replaced, for what changes with every key.
 */
export function useUrlParams(): [URLSearchParams, (patch: UrlPatch, how?: "push" | "replace") => void] {
  const params = useSearchParams();
  const change = useCallback((patch: UrlPatch, how: "push" | "replace" = "replace") => {
    const url = new URL(window.location.href);
    for (const [name, value] of Object.entries(patch)) {
      const [first = "", ...more] = [value ?? ""].flat();
      if (first === "") url.searchParams.delete(name);
      else url.searchParams.set(name, String(first));
      for (const each of more) url.searchParams.append(name, String(each));
    }
    if (url.href === window.location.href) return;
    // Next follows the History API here; its router would ask the server for the page on every arrow key.
    if (how === "push") window.history.pushState(null, "", url);
    else window.history.replaceState(null, "", url);
  }, []);
  return [new URLSearchParams(params), change];
}
