"use client";
/**
 * One state out of a chart's, found by typing a part of its name.
 */
import { Command } from "cmdk";
import { Check, ChevronsUpDown } from "lucide-react";
import { Popover } from "radix-ui";
import { useState } from "react";
import { cn } from "@/components/ui/class-names";

export function StatePicker({
  label,
  states,
  value,
  onChange,
  invalid = false,
  describedBy,
  testId,
}: {
  /** What is asked, for who does not see where it stands. */
  label: string;
  states: readonly string[];
  value: string | null;
  onChange: (state: string) => void;
  invalid?: boolean;
  describedBy?: string | undefined;
  testId?: string;
}) {
  const [open, setOpen] = useState(false);
  return (
    // Modal: inside a dialog its list would not scroll otherwise.
    <Popover.Root open={open} onOpenChange={setOpen} modal>
      <Popover.Trigger
        aria-label={`${label}: ${value ?? "none chosen"}`}
        aria-describedby={describedBy}
        data-testid={testId}
        className={cn(
          "flex h-8 w-full min-w-0 items-center gap-1.5 rounded-control border bg-surface px-2.5 text-left transition-colors duration-90 hover:border-text-3",
          invalid ? "border-failed" : "border-line",
        )}
      >
        <span
          className={cn(
            "min-w-0 flex-1 truncate",
            value === null ? "text-body text-text-3" : "font-mono text-table",
          )}
          title={value ?? undefined}
        >
          {value ?? "Choose a state…"}
        </span>
        <ChevronsUpDown size={13} aria-hidden className="shrink-0 text-text-3" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label={label}
          className="z-810 w-(--radix-popover-trigger-width) min-w-56 animate-panel-in overflow-hidden rounded-box border border-border-2 bg-surface shadow-2"
        >
          <Command label={label} loop defaultValue={value ?? ""}>
            <Command.Input
              placeholder="Find a state"
              className="h-8 w-full border-b border-border bg-transparent px-2.5 font-mono text-table outline-none"
            />
            <Command.List label={label} className="max-h-56 overflow-y-auto p-1">
              <Command.Empty className="px-2 py-2 text-body text-text-2">
                No state is called so.
              </Command.Empty>
              {states.map((state) => (
                <Command.Item
                  key={state}
                  value={state}
                  onSelect={() => {
                    onChange(state);
                    setOpen(false);
                  }}
                  className="flex min-h-7 cursor-default items-center gap-2 rounded-chip px-2 font-mono text-table data-[selected=true]:bg-surface-2"
                >
                  <span className="min-w-0 flex-1 break-all">{state}</span>
                  {state === value ? <Check size={13} aria-hidden className="shrink-0 text-text-2" /> : null}
                </Command.Item>
              ))}
            </Command.List>
          </Command>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
