"use client";
/**
 * Where the selected state lies: from the chart down.
 */
import { ChevronRight } from "lucide-react";
import { useMemo } from "react";
import { chartTree, type TreeState } from "@/lib/diagram/chart-tree";
import { parseTransitionId } from "@/lib/statechart/transition-id";
import { useDocument, useEditor } from "./editor-store";

export function Breadcrumbs() {
  const { chart } = useDocument();
  const chartId = useEditor((state) => state.chartId);
  const selection = useEditor((state) => state.selection);
  const select = useEditor((state) => state.select);
  const reveal = useEditor((state) => state.reveal);
  const tree = useMemo(() => chartTree(chart), [chart]);
  const [only] = selection;
  const name = only?.includes("#") ? parseTransitionId(only).state : only;
  const path: TreeState[] = [];
  for (let at = name === undefined ? undefined : tree.byName.get(name); at; at = at.parent ?? undefined)
    path.unshift(at);
  if (path.length < 2) return null;
  return (
    <nav
      aria-label="Place in the chart"
      className="absolute top-2 left-2.5 z-400 flex max-w-[70%] items-center gap-0.5 overflow-hidden rounded-control bg-canvas px-1 text-body"
    >
      {path.map((state, index) => (
        <span key={state.name} className="flex min-w-0 items-center gap-0.5">
          {index > 0 ? <ChevronRight size={12} aria-hidden className="shrink-0 text-text-3" /> : null}
          <button
            type="button"
            className={
              index === path.length - 1
                ? "truncate rounded-kbd px-0.5 font-semibold"
                : "truncate rounded-kbd px-0.5 text-text-2 hover:text-text"
            }
            onClick={() => (state.parent ? reveal(state.name) : select([]))}
          >
            {state.parent ? state.key : chartId}
          </button>
        </span>
      ))}
    </nav>
  );
}
