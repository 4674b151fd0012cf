/**
 * Charts: drafts with revisions, immutable versions.
 */
import { z } from "zod";
import { id, pageOf, timestamp } from "./common";

// A drawing of two thousand states is some 100,000 wide. Numbers so large that adding a gap changes nothing would let
// whoever looks for a free place look for ever.
const coordinate = z.number().min(-1e6).max(1e6);
const size = z.number().min(0).max(1e6);

export const box = z.object({
  x: coordinate,
  y: coordinate,
  w: size,
  h: size,
  collapsed: z.boolean().optional(),
  pinned: z.boolean().optional(),
});
const point = z.object({ x: coordinate, y: coordinate });
export const layout = z.object({
  direction: z.enum(["right", "down"]),
  states: z.record(z.string(), box),
  routes: z.record(
    z.string(),
    z.object({
      points: z.array(point).max(500),
      label: z.object({ x: coordinate, y: coordinate, w: size, h: size }).optional(),
    }),
  ),
});

export const chartSummary = z.object({
  id: z.string(),
  /** Newest published version, null before the first. */
  version: z.int().nullable(),
  revision: z.int(),
  createdAt: timestamp,
  updatedAt: timestamp,
  updatedBy: z.string(),
  /** Instances of any version by status, e.g. {running: 3}. */
  instances: z.record(z.string(), z.int()),
});
export type ChartSummary = z.infer<typeof chartSummary>;

export const versionSummary = z.object({
  version: z.int(),
  /** SHA-256 hex of the canonical document. */
  hash: z.string(),
  note: z.string().nullable(),
  publishedAt: timestamp,
  publishedBy: z.string(),
  /** The draft revision it was made from. */
  revision: z.int(),
});

export const chartView = chartSummary.extend({
  draft: z.object({
    revision: z.int(),
    /** The document as text (lockstep JSON, not necessarily canonical; may be invalid while being edited as code). */
    text: z.string(),
    layout,
    savedAt: timestamp,
    savedBy: z.string(),
  }),
  versions: z.array(versionSummary),
});
export type ChartView = z.infer<typeof chartView>;

export const versionView = versionSummary.extend({ chartId: z.string(), text: z.string(), layout });
export type VersionView = z.infer<typeof versionView>;

export const chartList = pageOf(chartSummary);
export const createChartBody = z.strictObject({
  id,
  text: z.string().min(2),
  layout: layout.optional(),
});
export const saveDraftBody = z.strictObject({
  /** The revision this edit was made on; 409 draft-conflict {baseRevision, revision} when it is not the newest. */
  baseRevision: z.int().min(1),
  text: z.string().min(2),
  layout,
});
export const savedDraft = z.object({ revision: z.int(), savedAt: timestamp });
export const publishBody = z.strictObject({
  revision: z.int().min(1),
  note: z.string().max(2000).optional(),
  /** Placeholders warn; publishing with some needs this said. */
  acceptPlaceholders: z.boolean().optional(),
});
