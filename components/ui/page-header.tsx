"use client";
/**
 * The 44 px bar on top of every page: where you are on the left, what you can do on the right.
 */
import Link from "next/link";
import type { Route } from "next";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

export function PageHeader({
  crumbs = [],
  title,
  subtitle,
  children,
  actions,
}: {
  crumbs?: { label: string; href: Route }[];
  title: ReactNode;
  subtitle?: ReactNode;
  /** Beside the title: chips, segments. */
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <header className="flex h-11 shrink-0 items-center gap-2.5 border-b border-border bg-surface pr-3 pl-3.5 max-md:h-auto max-md:min-h-11 max-md:flex-wrap max-md:py-2">
      <nav aria-label="Breadcrumb" className="flex min-w-0 items-center gap-1.5">
        {crumbs.map((crumb) => (
          <span key={crumb.href} className="flex shrink-0 items-center gap-1.5">
            <Link
              href={crumb.href}
              className="rounded-chip text-body text-text-2 hover:text-text hover:underline"
            >
              {crumb.label}
            </Link>
            <ChevronRight size={13} aria-hidden className="text-text-3" />
          </span>
        ))}
        <h1 className="truncate text-title font-semibold" data-testid="page-title">
          {title}
        </h1>
      </nav>
      {subtitle ? <span className="truncate text-body text-text-3">{subtitle}</span> : null}
      {children}
      <div className="ml-auto flex shrink-0 items-center gap-2 max-md:ml-0 max-md:w-full max-md:flex-wrap">
        {actions}
      </div>
    </header>
  );
}
