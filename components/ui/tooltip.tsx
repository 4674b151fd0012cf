"use client";
/**
 * A word on hover or focus for what is shown as a sign, with its key. Never the only place of a fact.
 */
import { Tooltip as Radix } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { Kbd } from "./kbd";

export function Tooltip({
  text,
  keys,
  side = "bottom",
  children,
}: {
  text: ReactNode;
  keys?: string;
  side?: "top" | "right" | "bottom" | "left";
  children: ReactElement;
}) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-950 flex max-w-72 items-center gap-2 rounded-control border border-border-2 bg-surface px-2 py-1 text-hint text-text shadow-2"
        >
          {text}
          {keys ? <Kbd>{keys}</Kbd> : null}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
