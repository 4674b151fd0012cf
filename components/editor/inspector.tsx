"use client";
/**
 * What is selected, in fields: the chart, a state, a transition, or how many.
 */
import { useMemo } from "react";
import { chartTree } from "@/lib/diagram/chart-tree";
import { Button } from "@/components/ui/button";
import { ChartInspector } from "./chart-inspector";
import { useDocument, useEditor } from "./editor-store";
import { transitionOf } from "./problem-marks";
import { StateInspector } from "./state-inspector";
import { TransitionInspector } from "./transition-inspector";

export function Inspector() {
  const { chart } = useDocument();
  const selection = useEditor((state) => state.selection);
  const problems = useEditor((state) => state.problems);
  const run = useEditor((state) => state.run);
  const tree = useMemo(() => chartTree(chart), [chart]);
  const stateNames = useMemo(
    () =>
      tree.states
        .filter((state) => state.parent)
        .map((state) => ({ name: state.name, label: `${"  ".repeat(state.depth - 1)}${state.key}` })),
    [tree],
  );
  const [only, ...others] = selection;
  if (others.length > 0) {
    const states = selection.filter((id) => tree.byName.has(id));
    return (
      <div className="p-3.5">
        <p className="text-title font-semibold">{selection.length} selected</p>
        <Button
          className="mt-3"
          variant="danger-outline"
          onClick={() =>
            run({ do: "delete", states, transitions: selection.filter((id) => !states.includes(id)) })
          }
        >
          Delete
        </Button>
      </div>
    );
  }
  const state = only === undefined ? undefined : tree.byName.get(only);
  if (state?.parent) {
    return (
      <StateInspector
        tree={tree}
        state={state}
        problems={problems.filter((problem) => problem.at.state === state.name)}
      />
    );
  }
  const transition = only === undefined ? undefined : tree.transitions.find((item) => item.id === only);
  if (transition) {
    return (
      <TransitionInspector
        chart={chart}
        transition={transition}
        stateNames={stateNames}
        problems={problems.filter((problem) => transitionOf(problem) === transition.id)}
      />
    );
  }
  return <ChartInspector chart={chart} tree={tree} problems={problems} />;
}
