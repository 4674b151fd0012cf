/**
 * A key, as printed on it.
 */
import type { ReactNode } from "react";
import { cn } from "./class-names";

export function Kbd({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <kbd
      className={cn(
        "inline-flex h-[18px] min-w-[18px] items-center justify-center rounded-kbd border border-border-2 bg-surface px-1 font-sans text-micro font-normal text-text-2",
        className,
      )}
    >
      {children}
    </kbd>
  );
}
