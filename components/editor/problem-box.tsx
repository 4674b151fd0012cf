"use client";
/**
 * What is wrong with a field, under it.
 */
import { CircleX, TriangleAlert } from "lucide-react";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import { cn } from "@/components/ui/class-names";

export function ProblemBox({ problems, className }: { problems: readonly Diagnostic[]; className?: string }) {
  if (problems.length === 0) return null;
  return (
    <ul className={cn("mt-2 flex flex-col gap-1.5", className)} data-testid="field-problems">
      {problems.map((problem, index) => {
        const error = problem.severity === "error";
        const Icon = error ? CircleX : TriangleAlert;
        return (
          <li
            key={index}
            className={cn(
              "flex gap-2 rounded-box px-2.5 py-2 text-body",
              error ? "bg-failed-soft" : "bg-exited-soft",
            )}
          >
            <Icon
              size={14}
              aria-hidden
              className={cn("mt-0.5 shrink-0", error ? "text-failed" : "text-exited")}
            />
            <span className="min-w-0 break-words">{problem.message}</span>
          </li>
        );
      })}
    </ul>
  );
}
