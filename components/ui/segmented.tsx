"use client";
/**
 * One of a few, all visible: a radio group drawn as joined buttons.
 */
import { ToggleGroup } from "radix-ui";
import type { ReactNode } from "react";

export function Segmented<T extends string>({
  options,
  value,
  onValueChange,
  label,
}: {
  options: { value: T; label: ReactNode; count?: ReactNode }[];
  value: T;
  onValueChange: (value: T) => void;
  label: string;
}) {
  return (
    <ToggleGroup.Root
      type="single"
      value={value}
      aria-label={label}
      onValueChange={(next) => {
        const option = options.find((candidate) => candidate.value === next);
        if (option) onValueChange(option.value);
      }}
      className="flex items-center gap-0.5 overflow-x-auto"
    >
      {options.map((option) => (
        <ToggleGroup.Item
          key={option.value}
          value={option.value}
          data-testid={`segment-${option.value}`}
          className="flex h-6 shrink-0 items-center gap-1.5 rounded-control px-2 text-body text-text-2 transition-colors duration-90 hover:bg-surface-2 data-[state=on]:bg-surface-3 data-[state=on]:font-medium data-[state=on]:text-text"
        >
          {option.label}
          {option.count !== undefined ? (
            <span className="font-normal text-text-3 tabular-nums">{option.count}</span>
          ) : null}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}
