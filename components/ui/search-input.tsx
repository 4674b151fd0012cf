"use client";
/**
 * A list's search: `/` goes there, Esc clears and leaves. Says what was typed 250 ms after the last key.
 */
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { cn } from "./class-names";
import { Kbd } from "./kbd";
import { useKeys } from "./use-keys";

const settleMs = 250;

export function SearchInput({
  value,
  onChange,
  label,
  className,
  testId = "search",
}: {
  value: string;
  onChange: (value: string) => void;
  label: string;
  className?: string;
  testId?: string;
}) {
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  // The address changed by other means (Back, a cleared filter): the field follows it.
  if (seen !== value) {
    setSeen(value);
    setTyped(value);
  }
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => latest.current(typed.trim()), settleMs);
    return () => clearTimeout(timer);
  }, [typed, value]);
  useKeys({ "/": () => input.current?.focus() });
  return (
    <label
      className={cn(
        "flex h-7 items-center gap-2 rounded-control border border-line bg-surface pr-1.5 pl-2 focus-within:border-accent focus-within:outline-2 focus-within:outline-accent-soft",
        className,
      )}
    >
      <Search size={13} aria-hidden className="shrink-0 text-text-3" />
      <input
        ref={input}
        value={typed}
        aria-label={label}
        placeholder={label}
        data-testid={testId}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") onChange(typed.trim());
          if (event.key !== "Escape") return;
          event.stopPropagation();
          setTyped("");
          event.currentTarget.blur();
        }}
        className="min-w-0 flex-1 bg-transparent text-body outline-none"
      />
      <Kbd>/</Kbd>
    </label>
  );
}
