/**
 * A file → an imported chart. Files named by `src` inside it are read from its own folder, and from nowhere else.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { decodeText } from "@/lib/formats/decode-text";
import { importChart } from "@/lib/formats/import-chart";
import { importBounds, refuse, type ImportResult } from "@/lib/formats/import-result";
import { childCharts } from "@/lib/play/child-charts";
import type { FindChart } from "@/lib/play/world";

export function readChartFile(path: string): ImportResult {
  const format = /\.(?:scxml|xml)$/i.test(path)
    ? "scxml"
    : /\.(?:mmd|mermaid)$/i.test(path)
      ? "mermaid"
      : /\.[cm]?[jt]sx?$/i.test(path)
        ? "xstate"
        : "lockstep";
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    return refuse(format, "unreadable", `The file cannot be read: ${reasonOf(error)}.`);
  }
  const decoded = decodeText(bytes);
  if (!decoded.ok)
    return refuse(format, "bad-encoding", `The text cannot be read: ${decoded.message}.`, decoded.at);
  return importChart(decoded.text, { fileName: basename(path), load: (src) => load(path, src) });
}

/** Child charts given inline in the chart at `path`, or by files beside it. */
export function childChartsOf(path: string): FindChart {
  const loadBeside = (src: string): string | null => load(path, src);
  return childCharts({ read: (text) => importChart(text, { load: loadBeside }), load: loadBeside });
}

function load(chartPath: string, src: string): string | null {
  try {
    const folder = realpathSync(dirname(resolve(chartPath)));
    const path = src.startsWith("file:///") ? fileURLToPath(src) : resolve(folder, src.replace(/^file:/, ""));
    // A chart from a stranger must not read the rest of the disk.
    const real = realpathSync(path);
    if (!real.startsWith(folder + sep) || statSync(real).size > importBounds.charsMax) return null;
    const decoded = decodeText(readFileSync(real));
    return decoded.ok ? decoded.text : null;
  } catch {
    return null;
  }
}

/** An I/O error in words, without the path (the caller names the file). */
export function reasonOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "EISDIR") return "it is a directory";
  if (code === "ENOTDIR") return "a part of its path is not a directory";
  if (code === "ENOSPC") return "the disk is full";
  return error instanceof Error ? error.message : String(error);
}
