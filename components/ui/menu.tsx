"use client";
/**
 * A menu behind a button.
 */
import type { LucideIcon } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { cn } from "./class-names";
import { Kbd } from "./kbd";

export interface MenuItem {
  label: ReactNode;
  icon?: LucideIcon;
  keys?: string;
  danger?: boolean;
  disabled?: boolean;
  checked?: boolean;
  onSelect: () => void;
  testId?: string;
}

export function Menu({
  trigger,
  items,
  align = "end",
}: {
  trigger: ReactElement;
  items: MenuItem[];
  align?: "start" | "end";
}) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-700 min-w-48 animate-panel-in rounded-box border border-border-2 bg-surface p-1 shadow-2"
        >
          {items.map(({ label, icon: Icon, keys, danger, disabled, checked, onSelect, testId }, index) => (
            <DropdownMenu.Item
              key={index}
              data-testid={testId}
              disabled={disabled ?? false}
              onSelect={onSelect}
              className={cn(
                "flex h-7 cursor-default items-center gap-2 rounded-chip px-2 text-body outline-none data-disabled:text-text-3 data-highlighted:bg-surface-2",
                danger && "text-failed data-highlighted:bg-failed-soft",
              )}
            >
              {Icon ? <Icon size={14} aria-hidden className="text-text-3" /> : null}
              <span className="flex-1">{label}</span>
              {checked ? <span className="text-hint text-text-3">on</span> : null}
              {keys ? <Kbd>{keys}</Kbd> : null}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
