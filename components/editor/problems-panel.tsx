"use client";
/**
 * Everything wrong with the chart. A click selects the element and the field.
 */
import { CircleCheck, CircleX, Info, TriangleAlert } from "lucide-react";
import { chartTree } from "@/lib/diagram/chart-tree";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import { cn } from "@/components/ui/class-names";
import { useEditor, useEditorStore } from "./editor-store";
import { MendButton } from "./problem-box";
import { fieldOf, transitionOf } from "./problem-marks";

export function ProblemsPanel() {
  const problems = useEditor((state) => state.problems);
  const checked = useEditor((state) => state.checked);
  const store = useEditorStore();
  const show = (problem: Diagnostic) => {
    const { history, select, reveal, set, focus } = store.getState();
    const tree = chartTree(history.present.document.chart);
    const transition = transitionOf(problem);
    const known = transition !== null && tree.transitions.some((item) => item.id === transition);
    const state = tree.byName.get(problem.at.state);
    if (known) reveal(transition);
    else if (state?.parent) reveal(state.name);
    else select([]);
    set({ focus: { field: fieldOf(problem), count: focus.count + 1 } });
  };
  if (problems.length === 0) {
    return (
      <p className="flex items-center gap-2 px-3.5 py-3 text-body text-text-2" data-testid="no-problems">
        <CircleCheck size={14} aria-hidden className="text-active" />
        {checked ? "No problems. It can be published." : "Checking…"}
      </p>
    );
  }
  return (
    <ul className="h-full overflow-y-auto py-1" data-testid="problems">
      {problems.map((problem, index) => {
        const [Icon, tone] = {
          error: [CircleX, "text-failed"] as const,
          warning: [TriangleAlert, "text-exited"] as const,
          info: [Info, "text-text-3"] as const,
        }[problem.severity];
        const field = fieldOf(problem);
        return (
          <li key={index} className="flex items-start hover:bg-surface-2">
            <button
              type="button"
              data-testid="problem"
              data-severity={problem.severity}
              data-code={problem.code}
              className="flex min-w-0 flex-1 items-start gap-2 px-3.5 py-1 text-left text-body"
              onClick={() => show(problem)}
            >
              <Icon size={14} aria-label={problem.severity} className={cn("mt-0.5 shrink-0", tone)} />
              <span className="min-w-0 flex-1">{problem.message}</span>
              <span className="max-w-64 shrink-0 truncate font-mono text-hint text-text-3">
                {[problem.at.state || "chart", field].filter(Boolean).join(" · ")}
              </span>
            </button>
            <MendButton problem={problem} className="my-px mr-2" />
          </li>
        );
      })}
    </ul>
  );
}
