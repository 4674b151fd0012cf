/**
 * Chips: a sign and a word, never colour alone. Filled says what something is, outlined what it waits for.
 */
import type { LucideIcon } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { cn } from "./class-names";

export type Tone = "neutral" | "active" | "exited" | "taken" | "failed" | "accent";

const filled: Record<Tone, string> = {
  neutral: "bg-surface-3 text-text-2",
  active: "bg-active-soft text-active",
  exited: "bg-exited-soft text-exited",
  taken: "bg-taken-soft text-taken",
  failed: "bg-failed-soft text-failed",
  accent: "bg-accent-soft text-accent",
};
const outlined: Record<Tone, string> = {
  neutral: "border border-border-2 text-text-2",
  active: "border border-active text-active",
  exited: "border border-exited text-exited",
  taken: "border border-taken text-taken",
  failed: "border border-failed text-failed",
  accent: "border border-accent text-accent",
};

export function Chip({
  tone = "neutral",
  outline = false,
  icon: Icon,
  dot = false,
  children,
  className,
  ...props
}: ComponentProps<"span"> & {
  tone?: Tone;
  outline?: boolean;
  icon?: LucideIcon;
  /** A filled dot instead of an icon: alive. */
  dot?: boolean;
  children: ReactNode;
}) {
  return (
    <span
      className={cn(
        "inline-flex h-5 shrink-0 items-center gap-1.5 rounded-chip px-1.5 text-hint font-medium whitespace-nowrap",
        outline ? outlined[tone] : filled[tone],
        className,
      )}
      {...props}
    >
      {dot ? <span aria-hidden className="size-[7px] rounded-full bg-current" /> : null}
      {Icon ? <Icon aria-hidden size={12} strokeWidth={2} /> : null}
      {children}
    </span>
  );
}

/** A number beside a name: `Locks 3`. */
export function CountBadge({ tone = "neutral", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={cn(
        "inline-flex h-[18px] min-w-[18px] items-center justify-center rounded-chip px-1 text-hint font-medium tabular-nums",
        filled[tone],
      )}
    >
      {children}
    </span>
  );
}

/** A name in mono inside a thin frame: a version, a business key. */
export function Token({ children, className, ...props }: ComponentProps<"span">) {
  return (
    <span
      className={cn(
        "inline-flex h-[22px] shrink-0 items-center gap-1 rounded-chip whitespace-nowrap border border-border-2 bg-surface px-1.5 font-mono text-hint text-text-2",
        className,
      )}
      {...props}
    >
      {children}
    </span>
  );
}
