/**
 * Where a chart's boxes and arrows lie: stored beside the chart, never in it; no behaviour depends on it.
 *
 * Holds: coordinates are absolute pixels at 100 % zoom; an element without an entry has no place yet and is laid out
 * when the chart is opened.
 */
export interface Point {
  x: number;
  y: number;
}
export interface Box extends Point {
  w: number;
  h: number;
}

export interface Layout {
  direction: "right" | "down";
  /** By state name. */
  states: Record<string, Box & { collapsed?: boolean; pinned?: boolean }>;
  /** By transition id (statechart/transition-id.ts). */
  routes: Record<string, { points: Point[]; label?: Box }>;
}

export const emptyLayout: Layout = { direction: "right", states: {}, routes: {} };
