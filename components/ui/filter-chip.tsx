"use client";
/**
 * One filter of a list: closed it says `State all` or `State is waiting ×`; open it asks.
 */
import { ChevronDown, X } from "lucide-react";
import { Popover } from "radix-ui";
import { useState } from "react";
import { Button } from "./button";
import { cn } from "./class-names";
import { Input } from "./field";

export function FilterChip({
  name,
  value,
  onChange,
  options,
  placeholder,
  testId,
}: {
  name: string;
  value: string | null;
  onChange: (value: string | null) => void;
  /** A closed list to choose from; without it the value is typed. */
  options?: { value: string; label: string }[];
  placeholder?: string;
  testId: string;
}) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const choose = (next: string | null): void => {
    onChange(next);
    setOpen(false);
  };
  const chosen = options?.find((option) => option.value === value)?.label ?? value;
  return (
    <Popover.Root
      open={open}
      onOpenChange={(next) => {
        setTyped(value ?? "");
        setOpen(next);
      }}
    >
      <span
        className={cn(
          "inline-flex h-7 shrink-0 items-stretch overflow-hidden rounded-control border bg-surface text-body",
          value === null ? "border-border-2" : "border-accent bg-accent-soft",
        )}
      >
        <Popover.Trigger
          data-testid={testId}
          className="flex items-center gap-1.5 px-2 focus-visible:-outline-offset-2"
        >
          <span className="text-text-2">{name}</span>
          <span className={cn("max-w-40 truncate font-medium", value === null ? "text-text" : "text-accent")}>
            {value === null ? "all" : chosen}
          </span>
          {value === null ? <ChevronDown size={12} aria-hidden className="text-text-3" /> : null}
        </Popover.Trigger>
        {value === null ? null : (
          <button
            type="button"
            aria-label={`Remove the filter ${name} ${value}`}
            onClick={() => onChange(null)}
            className="flex w-6 items-center justify-center text-accent hover:bg-surface focus-visible:-outline-offset-2"
          >
            <X size={12} aria-hidden />
          </button>
        )}
      </span>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          className="z-700 w-64 animate-panel-in rounded-box border border-border-2 bg-surface p-1 shadow-2"
        >
          {options ? (
            <ul className="max-h-72 overflow-y-auto">
              {options.map((option) => (
                <li key={option.value}>
                  <button
                    type="button"
                    onClick={() => choose(option.value === value ? null : option.value)}
                    aria-pressed={option.value === value}
                    className="flex h-7 w-full items-center rounded-chip px-2 text-left text-body hover:bg-surface-2 aria-pressed:font-semibold"
                  >
                    {option.label}
                  </button>
                </li>
              ))}
              {options.length === 0 ? <li className="px-2 py-1.5 text-text-3">None yet.</li> : null}
            </ul>
          ) : (
            <form
              className="flex gap-1.5 p-1"
              onSubmit={(event) => {
                event.preventDefault();
                choose(typed.trim() || null);
              }}
            >
              <Input
                aria-label={name}
                placeholder={placeholder}
                value={typed}
                mono
                autoFocus
                onChange={(event) => setTyped(event.target.value)}
                className="h-7"
                data-testid={`${testId}-value`}
              />
              <Button type="submit">Filter</Button>
            </form>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** A filter that may be given several times, all of which must hold: a chip for each, and one more to add another. */
export function FilterChips({
  name,
  values,
  onChange,
  placeholder,
  testId,
}: {
  name: string;
  values: readonly string[];
  onChange: (values: string[]) => void;
  placeholder: string;
  testId: string;
}) {
  return [...values, null].map((value, place) => (
    <FilterChip
      key={value ?? ""}
      name={value === null && place > 0 ? `And ${name.toLowerCase()}` : name}
      value={value}
      onChange={(next) => {
        const others = values.filter((each) => each !== value && each !== next);
        onChange(next === null ? others : [...others, next]);
      }}
      placeholder={placeholder}
      testId={value === null ? testId : `${testId}-${place}`}
    />
  ));
}
