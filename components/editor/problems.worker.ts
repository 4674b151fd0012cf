/**
 * Diagnoses a chart off the main thread.
 */
import { checkChart } from "./check-chart";
import type { Chart } from "@/lib/statechart/document";

self.onmessage = ({ data }: MessageEvent<{ id: number; chart: Chart }>) => {
  self.postMessage({ id: data.id, problems: checkChart(data.chart) });
};
