"use client";
/**
 * What a panel says when it has nothing to show: empty (what is true, why, one way on), loading (the frame at once, grey
 * rows after 150 ms, no spinner), error (what, why, what is safe, what next).
 */
import { CircleX, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { LockstepError } from "@/lib/base/errors";
import { Button } from "./button";
import { cn } from "./class-names";

export function Empty({
  icon: Icon,
  title,
  children,
  action,
  className,
  testId = "empty",
}: {
  icon: LucideIcon;
  /** What is true, e.g. "No lock is waited for". */
  title: string;
  /** Why it is so: a filter, or nothing yet. */
  children?: ReactNode;
  action?: ReactNode;
  className?: string;
  testId?: string;
}) {
  return (
    <div
      data-testid={testId}
      className={cn("flex h-full flex-col items-center justify-center px-6 py-10 text-center", className)}
    >
      <Icon size={20} strokeWidth={1.75} aria-hidden className="mb-2 text-text-3" />
      <p className="text-title font-semibold">{title}</p>
      {children ? <div className="mt-0.5 max-w-104 text-body text-text-2">{children}</div> : null}
      {action ? <div className="mt-3 flex gap-2">{action}</div> : null}
    </div>
  );
}

/** Grey rows in the rhythm of the list that will come. */
export function SkeletonRows({ rows = 8, rowHeight = 32 }: { rows?: number; rowHeight?: number }) {
  return (
    <div role="status" aria-label="Loading" className="animate-appear">
      {Array.from({ length: rows }, (_, row) => (
        <div
          key={row}
          className="flex items-center gap-4 border-b border-border px-3.5"
          style={{ height: rowHeight }}
        >
          {[18, 28, 14, 22].map((width, column) => (
            <span
              key={column}
              className="h-2 rounded-chip bg-surface-3"
              style={{ width: `${width + ((row * 7 + column * 5) % 9) - 4}%` }}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

export function ErrorPanel({
  title,
  error,
  children,
  onRetry,
  actions,
  className,
}: {
  /** What could not be done: "Couldn't send ARRIVED". */
  title: string;
  /** Why, in the server's own words. */
  error?: unknown;
  /** What is safe, when the message does not say so. */
  children?: ReactNode;
  onRetry?: (() => void) | undefined;
  actions?: ReactNode;
  className?: string;
}) {
  return (
    <div
      role="alert"
      data-testid="error-panel"
      className={cn("flex gap-2.5 rounded-box bg-failed-soft px-3 py-2.5 text-body", className)}
    >
      <CircleX size={15} aria-hidden className="mt-0.5 shrink-0 text-failed" />
      <div className="min-w-0 flex-1">
        <p className="font-semibold">{title}</p>
        {error !== undefined ? <p className="break-words text-text-2">{describeError(error)}</p> : null}
        {children ? <div className="text-text-2">{children}</div> : null}
        {onRetry || actions ? (
          <div className="mt-2 flex flex-wrap gap-2">
            {actions}
            {onRetry ? (
              <Button size="sm" onClick={onRetry}>
                Try again
              </Button>
            ) : null}
          </div>
        ) : null}
      </div>
    </div>
  );
}

function describeError(error: unknown): string {
  if (error instanceof LockstepError) return error.message;
  return error instanceof Error ? error.message : String(error);
}
