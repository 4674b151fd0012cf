/**
 * What is remembered of charts: one draft each, and versions that never change.
 */
export interface ChartRow {
  id: string;
  draftText: string;
  /** JSON. */
  draftLayout: string;
  revision: number;
  savedAt: number;
  savedBy: string;
  /** Newest published version. */
  version: number | null;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
}

export interface VersionRow {
  chartId: string;
  version: number;
  /** Canonical. */
  text: string;
  hash: string;
  /** JSON. */
  layout: string;
  note: string | null;
  publishedAt: number;
  publishedBy: string;
  revision: number;
}

export interface ChartReads {
  /** All charts by id, without their texts. */
  listCharts(): Promise<Omit<ChartRow, "draftText" | "draftLayout">[]>;
  /** Null when there is none. */
  findChart(chartId: string): Promise<ChartRow | null>;
  /** Newest first, without text and layout. */
  listVersions(chartId: string): Promise<Omit<VersionRow, "text" | "layout">[]>;
  /** What was stored when it was published, byte for byte; null when there is none. */
  findVersion(chartId: string, version: number): Promise<VersionRow | null>;
  /** How many instances of any version there are, by status; deleted ones are not counted. */
  countInstances(chartIds: readonly string[]): Promise<{ chartId: string; status: string; count: number }[]>;
}

export interface ChartWrites {
  /** The chart's row, locked to the transaction's end. */
  lockChart(chartId: string): Promise<ChartRow | null>;
  /** False, and nothing changed, when the id is taken. */
  insertChart(row: ChartRow): Promise<boolean>;
  /** Under lockChart only. Appears in the feed of changes. */
  updateChart(row: ChartRow): Promise<void>;
  /** Never overwrites: a taken (chart, version) is an error. */
  insertVersion(row: VersionRow): Promise<void>;
}
