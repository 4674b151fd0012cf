/**
 * A band over the whole width: the past (accent), offline (amber), something that does not add up (red).
 */
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "./class-names";

const tones = {
  past: "bg-accent-soft text-accent",
  offline: "bg-exited-soft text-exited",
  wrong: "bg-failed-soft text-failed",
};

export function Banner({
  tone,
  icon: Icon,
  children,
  action,
  testId,
}: {
  tone: keyof typeof tones;
  icon: LucideIcon;
  children: ReactNode;
  action?: ReactNode;
  testId?: string;
}) {
  return (
    <div
      role={tone === "past" ? "status" : "alert"}
      data-testid={testId}
      className={cn(
        "flex min-h-9 shrink-0 items-center gap-2.5 border-b border-border px-3 py-1 text-body",
        tones[tone],
      )}
    >
      <Icon size={15} aria-hidden className="shrink-0" />
      <div className="min-w-0 flex-1">{children}</div>
      {action}
    </div>
  );
}
