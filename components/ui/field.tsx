"use client";
/**
 * Form fields: label above, hint beside it, error below in words; the three are tied together for a screen reader.
 */
import { CircleX } from "lucide-react";
import { useId, type ComponentProps, type ReactNode } from "react";
import { cn } from "./class-names";

interface Wiring {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

export function Field({
  label,
  hint,
  error,
  className,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  /** What is wrong and what would be right. */
  error?: string | null;
  className?: string;
  /** Draws the control with the ids it gets. */
  children: (wiring: Wiring) => ReactNode;
}) {
  const id = useId();
  const messageId = `${id}-message`;
  return (
    <div className={cn("min-w-0", className)}>
      <label htmlFor={id} className="mb-1.5 block text-hint font-medium text-text">
        {label}
        {hint ? <span className="ml-1.5 font-normal text-text-3">{hint}</span> : null}
      </label>
      {children({ id, ...(error ? { "aria-describedby": messageId, "aria-invalid": true } : {}) })}
      {error ? (
        <p id={messageId} className="mt-1.5 flex gap-1.5 text-hint text-failed" role="alert">
          <CircleX size={13} aria-hidden className="mt-px shrink-0" />
          <span className="min-w-0 break-words">{error}</span>
        </p>
      ) : null}
    </div>
  );
}

const control =
  "w-full rounded-control border border-line bg-surface px-2.5 text-body text-text transition-colors duration-90 hover:border-text-3 focus-visible:border-accent focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-accent-soft aria-invalid:border-failed disabled:bg-surface-2 disabled:text-text-3";

export function Input({ className, mono, ...props }: ComponentProps<"input"> & { mono?: boolean }) {
  return (
    <input
      autoComplete="off"
      spellCheck={false}
      className={cn(control, "h-8", mono && "font-mono text-table", className)}
      {...props}
    />
  );
}

export function TextArea({ className, mono, ...props }: ComponentProps<"textarea"> & { mono?: boolean }) {
  return (
    <textarea
      spellCheck={false}
      className={cn(control, "block resize-y py-1.5", mono && "font-mono text-table", className)}
      {...props}
    />
  );
}

export function Select({ className, children, ...props }: ComponentProps<"select">) {
  return (
    <select className={cn(control, "h-8 pr-7", className)} {...props}>
      {children}
    </select>
  );
}
