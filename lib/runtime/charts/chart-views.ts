/**
 * Charts as the runtime shows them.
 */
import type { ChartRow, VersionRow } from "@/lib/store/charts";

interface Rectangle {
  x: number;
  y: number;
  w: number;
  h: number;
}
/** Drawn places, stored beside a chart and never looked into here. Shape of lib/diagram's Layout. */
export interface ChartLayout {
  direction: "right" | "down";
  states: Record<string, Rectangle & { collapsed?: boolean | undefined; pinned?: boolean | undefined }>;
  routes: Record<string, { points: { x: number; y: number }[]; label?: Rectangle | undefined }>;
}
export const emptyLayout: ChartLayout = { direction: "right", states: {}, routes: {} };

export interface ChartSummary {
  id: string;
  version: number | null;
  revision: number;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
  instances: Record<string, number>;
}
export interface VersionSummary {
  version: number;
  hash: string;
  note: string | null;
  publishedAt: number;
  publishedBy: string;
  revision: number;
}
export interface ChartView extends ChartSummary {
  draft: { revision: number; text: string; layout: ChartLayout; savedAt: number; savedBy: string };
  versions: VersionSummary[];
}
export interface VersionView extends VersionSummary {
  chartId: string;
  text: string;
  layout: ChartLayout;
}
export interface SavedDraft {
  revision: number;
  savedAt: number;
}

type ChartHead = Omit<ChartRow, "draftText" | "draftLayout">;
type VersionHead = Omit<VersionRow, "text" | "layout">;

export function viewChartSummary(
  row: ChartHead,
  counts: readonly { chartId: string; status: string; count: number }[],
): ChartSummary {
  const mine = counts.filter((each) => each.chartId === row.id);
  return {
    id: row.id,
    version: row.version,
    revision: row.revision,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    updatedBy: row.updatedBy,
    instances: Object.fromEntries(mine.map(({ status, count }) => [status, count])),
  };
}

export function viewChart(
  row: ChartRow,
  counts: readonly { chartId: string; status: string; count: number }[],
  versions: readonly VersionHead[],
): ChartView {
  return {
    ...viewChartSummary(row, counts),
    draft: {
      revision: row.revision,
      text: row.draftText,
      layout: parseLayout(row.draftLayout),
      savedAt: row.savedAt,
      savedBy: row.savedBy,
    },
    versions: versions.map(viewVersionSummary),
  };
}

export function viewVersionSummary(row: VersionHead): VersionSummary {
  return {
    version: row.version,
    hash: row.hash,
    note: row.note,
    publishedAt: row.publishedAt,
    publishedBy: row.publishedBy,
    revision: row.revision,
  };
}

export const viewVersion = (row: VersionRow): VersionView => ({
  ...viewVersionSummary(row),
  chartId: row.chartId,
  text: row.text,
  layout: parseLayout(row.layout),
});

const parseLayout = (text: string): ChartLayout => JSON.parse(text) as ChartLayout;
