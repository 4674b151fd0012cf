"use client";
/**
 * Keys of a page. Names as KeyboardEvent.key gives them, letters in lower case: `j`, `?`, `Escape`, `mod+k`,
 * `shift+ArrowLeft`.
 *
 * Holds: no single-letter key acts while a field has focus or a dialog is open over the page.
 */
import { useEffect, useRef } from "react";

export type KeyMap = Record<string, (event: KeyboardEvent) => void>;

export function useKeys(keys: KeyMap, { enabled = true }: { enabled?: boolean } = {}): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    if (!enabled) return;
    const onKeyDown = (event: KeyboardEvent): void => {
      const name = nameOf(event);
      const action = latest.current[name];
      if (!action || event.defaultPrevented) return;
      if (!name.startsWith("mod+") && isBusy(event.target)) return;
      event.preventDefault();
      action(event);
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [enabled]);
}

function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.metaKey || event.ctrlKey) return `mod+${key}`;
  if (event.altKey) return `alt+${key}`;
  // "?" and "[" already say which keys they took; only named keys and letters tell Shift apart.
  return event.shiftKey && (key.length > 1 || /[a-z]/.test(key)) ? `shift+${key}` : key;
}

/** Typing somewhere, or a dialog or menu has the keyboard. */
function isBusy(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"][data-state="open"], [role="menu"][data-state="open"]'))
    return true;
  // In a box there is nothing to type.
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
