/**
 * A chart as a drawing in the format that a file's extension names. ELK, which lays it out, is loaded by its thread alone, and
 * resvg, which makes pixels of it, here alone, for they are large.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { drawChart } from "@/lib/formats/svg/draw-chart";
import type { Chart } from "@/lib/statechart/document";
import { threadedElk } from "./threaded-elk";

export type Drawing = "svg" | "png";

export const drawingOf = (path: string): Drawing | null =>
  /\.svg$/i.test(path) ? "svg" : /\.png$/i.test(path) ? "png" : null;

/** Pixels to a unit of the drawing: sharp on the screens that people have. */
const pngScale = 2;

/** As long as the browser lets ELK try. */
const usualLayoutMsMax = 10_000;

/** `failure`: why the boxes stand in a grid; null where ELK laid them out. */
export async function draw(
  chart: Chart,
  title: string,
  drawing: Drawing,
  layoutMsMax = usualLayoutMsMax,
): Promise<{ content: string | Uint8Array; failure: string | null }> {
  const { elk, stop } = threadedElk(layoutMsMax);
  const { svg, failure } = await drawChart(chart, title, elk).finally(stop);
  return { content: drawing === "svg" ? svg : await pixels(svg), failure };
}

async function pixels(svg: string): Promise<Uint8Array> {
  const { Resvg } = await import("@resvg/resvg-js");
  const fontFiles = fonts();
  const image = new Resvg(svg, {
    fitTo: { mode: "zoom", value: pngScale },
    font: {
      // The same letters everywhere; a system's own fonts are looked for only where ours are not installed.
      loadSystemFonts: fontFiles.length === 0,
      fontFiles,
      defaultFontFamily: "Geist",
      sansSerifFamily: "Geist",
      monospaceFamily: "Geist Mono",
    },
  });
  return image.render().asPng();
}

function fonts(): string[] {
  try {
    const folder = join(dirname(createRequire(import.meta.url).resolve("geist/font/sans")), "fonts");
    return [
      "geist-sans/Geist-Regular.ttf",
      "geist-sans/Geist-SemiBold.ttf",
      "geist-mono/GeistMono-Regular.ttf",
    ]
      .map((name) => join(folder, name))
      .filter((path) => existsSync(path));
  } catch {
    return [];
  }
}
