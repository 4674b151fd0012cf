/**
 * A part of a side panel: small heading, then its content, a line below.
 */
import type { ReactNode } from "react";
import { cn } from "./class-names";

export function Section({
  title,
  hint,
  action,
  children,
  className,
}: {
  title: ReactNode;
  hint?: ReactNode;
  action?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={cn("border-b border-border px-3.5 py-3 last:border-b-0", className)}>
      <div className="mb-2 flex min-h-5 items-center gap-2">
        <h3 className="text-hint font-medium text-text-2">{title}</h3>
        {hint ? <span className="min-w-0 truncate text-hint text-text-3">{hint}</span> : null}
        {action ? <div className="ml-auto shrink-0">{action}</div> : null}
      </div>
      {children}
    </section>
  );
}

/** A name over its value: facts in a grid. */
export function Fact({ name, children, mono }: { name: string; children: ReactNode; mono?: boolean }) {
  return (
    <div className="min-w-0">
      <dt className="text-hint text-text-3">{name}</dt>
      <dd className={cn("truncate text-body font-medium", mono && "font-mono text-table")}>{children}</dd>
    </div>
  );
}
