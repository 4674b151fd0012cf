"use client";
/**
 * Lays the whole chart out by ELK, on request only.
 */
import { useCallback } from "react";
import { elkClient } from "@/components/canvas/elk-client";
import { collapsedIn } from "@/components/canvas/use-placed";
import { autoLayout } from "@/lib/diagram/auto-layout";
import type { Layout } from "@/lib/diagram/layout";
import { buildScene } from "@/lib/diagram/scene";
import { showToast } from "@/components/ui/toast";
import { canvasSize } from "./canvas-size";
import { useEditorStore } from "./editor-store";

export function useAutoLayout(): (
  direction: Layout["direction"] | "best",
  options?: { merge?: boolean },
) => Promise<void> {
  const store = useEditorStore();
  return useCallback(
    async (direction, { merge = false } = {}) => {
      const { measure, history } = store.getState();
      const { document } = history.present;
      const collapsed = collapsedIn(document.layout);
      const scene = buildScene(document.chart, { collapsed });
      const { layout, failure } = await autoLayout(scene, measure, elkClient(), {
        direction,
        window: canvasSize(),
      });
      // The chart moved on while the worker was thinking: what it placed is of the past.
      if (store.getState().history.present.document.chart !== document.chart) return;
      for (const name of collapsed) {
        const box = layout.states[name];
        if (box) layout.states[name] = { ...box, collapsed: true };
      }
      const { run, set, fitCount } = store.getState();
      if (merge) run({ do: "set-layout", layout }, { merge: true, select: false });
      else run({ do: "set-layout", layout }, { select: false });
      set({ fitCount: fitCount + 1 });
      if (failure !== null) showToast(failure);
    },
    [store],
  );
}
