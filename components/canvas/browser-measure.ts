/**
 * Text widths by the browser's own fonts, once these are loaded: a guess by a stand-in font would cut names off.
 */
import type { Font, Measure } from "@/lib/diagram/measure";

export async function browserMeasure(): Promise<Measure> {
  const context = document.createElement("canvas").getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const sans = style.getPropertyValue("--font-geist-sans") || getComputedStyle(document.body).fontFamily;
  const mono = style.getPropertyValue("--font-geist-mono") || "monospace";
  const fonts: Record<Font, string> = {
    title: `600 13px ${sans}`,
    mono: `400 11px ${mono}`,
    pill: `500 12px ${sans}`,
    caps: `500 10.5px ${sans}`,
  };
  await Promise.all(Object.values(fonts).map((font) => document.fonts.load(font)));
  const widths = new Map<string, number>();
  return (text, font) => {
    const key = `${font} ${text}`;
    const known = widths.get(key);
    if (known !== undefined) return known;
    if (!context) return text.length * 7;
    context.font = fonts[font];
    // Capitals of regions are letter-spaced by 0.06 em.
    const width = context.measureText(text).width + (font === "caps" ? text.length * 0.63 : 0);
    widths.set(key, width);
    return width;
  };
}
