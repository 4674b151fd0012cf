/**
 * The drawing a new chart is made with, as the editor would draw it: stored from its first revision on, so that whatever
 * shows it later draws it alike.
 *
 * Holds: where laying out fails the chart gets none; the editor tries again and says why.
 */
import { browserMeasure } from "@/components/canvas/browser-measure";
import { elkClient } from "@/components/canvas/elk-client";
import { completeLayout } from "@/lib/diagram/complete-layout";
import { emptyLayout, type Layout } from "@/lib/diagram/layout";
import { buildScene } from "@/lib/diagram/scene";
import type { Chart } from "@/lib/statechart/document";
import { canvasSize } from "./canvas-size";

export async function firstLayout(chart: Chart): Promise<Layout> {
  const measure = await browserMeasure();
  const placed = await completeLayout(buildScene(chart), emptyLayout, measure, elkClient, canvasSize());
  return placed.failure === null ? placed.layout : emptyLayout;
}
