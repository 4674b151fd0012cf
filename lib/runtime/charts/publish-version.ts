/**
 * The draft, checked and frozen as the chart's next version.
 *
 * Holds: a version never changes and can run: no diagnostic error; its text is canonical, its hash that text's SHA-256.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { sha256Hex } from "@/lib/base/canonical";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import { canonicalChart } from "@/lib/statechart/canonical-chart";
import { diagnose } from "@/lib/statechart/diagnose";
import { hasErrors, type Diagnostic } from "@/lib/statechart/diagnostic";
import { validateChart } from "@/lib/statechart/validate";
import { viewVersion, type VersionView } from "./chart-views";
import { chartNotFound } from "./get-chart";
import { newAuditId } from "../new-id";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { requireRevision } from "./save-draft";

/**
 * The draft at `revision` as the next version. A repeat answers the version that was made of that revision, so that a lost
 * answer or a double click makes no twin.
 *
 * Throws `not-found`, `draft-conflict`, or `chart-invalid` with {diagnostics}.
 */
export async function publishVersion(
  context: RuntimeContext,
  actor: Actor,
  args: {
    chartId: string;
    revision: number;
    note?: string | undefined;
    acceptPlaceholders?: boolean | undefined;
  },
): Promise<VersionView> {
  requirePermission(actor, "charts:publish");
  requireOpen(context);
  const note = args.note === undefined ? null : requireText(args.note, "note");
  const draft = await context.store.findChart(args.chartId);
  if (!draft) throw chartNotFound(args.chartId);
  requireRevision(args.chartId, args.revision, draft);
  const newest = draft.version === null ? null : await context.store.findVersion(args.chartId, draft.version);
  if (newest?.revision === args.revision) return viewVersion(newest);
  // Reading a large chart takes a while: not under the chart's lock. The revision is checked again there.
  const text = requirePublishable(args.chartId, draft.draftText, args.acceptPlaceholders ?? false);
  const made = await context.store.transaction(async (tx) => {
    const row = await tx.lockChart(args.chartId);
    if (!row) throw chartNotFound(args.chartId);
    requireRevision(args.chartId, args.revision, row);
    if (row.version !== draft.version) return null;
    const now = await tx.now();
    const version = {
      chartId: args.chartId,
      version: (row.version ?? 0) + 1,
      text,
      hash: sha256Hex(text),
      layout: row.draftLayout,
      note,
      publishedAt: now,
      publishedBy: actor.id,
      revision: row.revision,
    };
    await tx.insertVersion(version);
    await tx.updateChart({ ...row, version: version.version, updatedAt: now, updatedBy: actor.id });
    await tx.writeAudit({
      id: newAuditId(),
      at: now,
      actor: actor.id,
      action: "publish",
      target: `chart:${args.chartId}`,
      outcome: "done",
      details: JSON.stringify({ version: version.version, hash: version.hash }),
    });
    return viewVersion(version);
  });
  // Another call published this revision meanwhile: its version is found now.
  return made ?? publishVersion(context, actor, args);
}

/** The canonical text of a chart that can run. Throws `chart-invalid` with {diagnostics}. */
export function requirePublishable(chartId: string, draftText: string, acceptPlaceholders: boolean): string {
  const { chart, diagnostics: malformed } = validateChart(parse(chartId, draftText));
  if (!chart) throw invalid(chartId, malformed, "has errors");
  const diagnostics = [...malformed, ...diagnose(chart)];
  if (hasErrors(diagnostics)) throw invalid(chartId, diagnostics, "has errors");
  if (!acceptPlaceholders && diagnostics.some((each) => each.code === "placeholder")) {
    throw invalid(
      chartId,
      diagnostics,
      "has placeholders: their guards are false and their actions do nothing",
    );
  }
  return canonicalChart(chart);
}

function parse(chartId: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `the draft is not JSON: ${error instanceof Error ? error.message : String(error)}`;
    throw invalid(
      chartId,
      [{ code: "not-json", severity: "error", at: { state: "" }, message }],
      "has errors",
    );
  }
}

function invalid(chartId: string, diagnostics: Diagnostic[], why: string): LockstepError {
  const errors = diagnostics.filter((each) => each.severity === "error");
  const first = errors[0]?.message;
  return new LockstepError(
    "chart-invalid",
    `Chart ${chartId} was not published: it ${why}${first === undefined ? "; publish with acceptPlaceholders to accept that" : ` (${errors.length}), first: ${first}`}.`,
    { details: { chartId, diagnostics: diagnostics as unknown as Json[] } },
  );
}
