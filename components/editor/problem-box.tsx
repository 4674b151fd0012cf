"use client";
/**
 * What is wrong with a field, under it.
 */
import { CircleX, TriangleAlert } from "lucide-react";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import { mendOf } from "@/lib/editor/fix-problem";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { useDocument, useEditor } from "./editor-store";

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
            <div className="min-w-0 flex-1 break-words">
              {problem.message}
              <MendButton problem={problem} className="mt-1.5" />
            </div>
          </li>
        );
      })}
    </ul>
  );
}

/** One click that mends the problem, where there is one. */
export function MendButton({ problem, className }: { problem: Diagnostic; className?: string }) {
  const { chart } = useDocument();
  const run = useEditor((state) => state.run);
  const mend = mendOf(chart, problem);
  if (!mend) return null;
  return (
    <Button
      size="sm"
      data-testid="mend"
      className={cn("flex", className)}
      onClick={(event) => {
        event.stopPropagation();
        run(mend.command, { select: false });
      }}
    >
      {mend.title}
    </Button>
  );
}
