"use client";
/**
 * Tabs of a panel: an ink underline under the open one.
 */
import { Tabs as Radix } from "radix-ui";
import { useEffect, useRef, type ReactNode } from "react";
import { cn } from "./class-names";

export interface Tab<T extends string> {
  value: T;
  label: ReactNode;
  content: ReactNode;
}

export function Tabs<T extends string>({
  tabs,
  value,
  onValueChange,
  label,
  className,
}: {
  tabs: Tab<T>[];
  value: T;
  onValueChange: (value: T) => void;
  label: string;
  className?: string;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // In a panel too narrow for all of them the open one must not be out of sight.
    const open = list.current?.querySelector<HTMLElement>("[data-state=active]");
    if (!list.current || !open) return;
    list.current.scrollLeft = open.offsetLeft - (list.current.clientWidth - open.offsetWidth) / 2;
  }, [value]);
  return (
    <Radix.Root
      value={value}
      onValueChange={(next) => {
        const tab = tabs.find((candidate) => candidate.value === next);
        if (tab) onValueChange(tab.value);
      }}
      className={cn("flex min-h-0 flex-1 flex-col", className)}
    >
      <Radix.List
        ref={list}
        aria-label={label}
        className="relative flex h-9 shrink-0 overflow-x-auto border-b border-border px-2"
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            data-testid={`tab-${tab.value}`}
            onClick={(event) => {
              // By pointer: the arrow keys go back to the page. By keyboard they walk the tabs, as they should.
              if (event.detail > 0) event.currentTarget.blur();
            }}
            className="-mb-px flex shrink-0 items-center gap-1.5 border-b-2 border-transparent px-1.5 text-body text-text-2 transition-colors duration-90 hover:text-text data-[state=active]:border-ink data-[state=active]:font-semibold data-[state=active]:text-text"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content
          key={tab.value}
          value={tab.value}
          className="min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2"
        >
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
