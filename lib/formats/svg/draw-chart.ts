/**
 * A chart laid out afresh and drawn as SVG. ELK comes in as an argument: it is large, and callers load it when they draw.
 */
import { autoLayout, type ElkEngine } from "@/lib/diagram/auto-layout";
import { guessWidth } from "@/lib/diagram/measure";
import { buildScene } from "@/lib/diagram/scene";
import type { Chart } from "@/lib/statechart/document";
import { writeSvg } from "./write-svg";

/** The shape drawings aim at: a page in landscape. */
const page = { w: 1440, h: 900 };

/** `failure`: why ELK could not, so that boxes stand in a grid; else null. */
export async function drawChart(
  chart: Chart,
  title: string,
  elk: ElkEngine,
): Promise<{ svg: string; failure: string | null }> {
  const scene = buildScene(chart, { rootTitle: title });
  const { layout, failure } = await autoLayout(scene, guessWidth, elk, { direction: "best", window: page });
  return { svg: writeSvg(scene, layout, guessWidth), failure };
}
