/** A published version as it was stored. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { viewVersion, type VersionView } from "./chart-views";
import { versionNotFound } from "./machines";
import type { RuntimeContext } from "../runtime-context";

export async function getVersion(
  { store }: RuntimeContext,
  actor: Actor,
  args: { chartId: string; version: number },
): Promise<VersionView> {
  requirePermission(actor, "charts:read");
  const row = await store.findVersion(args.chartId, args.version);
  if (!row) throw versionNotFound(args);
  return viewVersion(row);
}
