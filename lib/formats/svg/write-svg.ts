/**
 * A laid-out scene as an SVG document: boxes, arrows, pills, all texts as text.
 *
 * Holds: nothing of the chart becomes markup: every text is escaped, characters that XML cannot hold become U+FFFD; the
 *        document names no font file, script, link or other resource.
 */
import { pillSize } from "@/lib/diagram/box-size";
import { midpoint, roundedPath, union } from "@/lib/diagram/geometry";
import type { Box, Layout, Point } from "@/lib/diagram/layout";
import { size, type Measure } from "@/lib/diagram/measure";
import type { Scene, SceneArrow, SceneBox } from "@/lib/diagram/scene";

const margin = 24;
const sans = "Geist, Inter, system-ui, sans-serif";
const mono = "'Geist Mono', ui-monospace, monospace";

export function writeSvg(scene: Scene, layout: Layout, measure: Measure): string {
  const routes = scene.arrows.flatMap((arrow) => {
    const route = layout.routes[arrow.id];
    return route === undefined || route.points.length < 2 ? [] : [{ arrow, route }];
  });
  const pills = routes.flatMap(({ arrow, route }) => pillOf(arrow, route, measure) ?? []);
  const places = scene.boxes.flatMap((box) => {
    const place = layout.states[box.id];
    return place === undefined ? [] : [{ box, place }];
  });
  const dots = routes.flatMap(({ route }) => route.points.map(({ x, y }): Box => ({ x, y, w: 0, h: 0 })));
  const frame = union([...places.map(({ place }) => place), ...pills.map(({ box }) => box), ...dots]) ?? {
    x: 0,
    y: 0,
    w: 0,
    h: 0,
  };
  const [w, h] = [frame.w + 2 * margin, frame.h + 2 * margin].map(Math.ceil);
  const [x, y] = [Math.floor(frame.x - margin), Math.floor(frame.y - margin)];
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="${x} ${y} ${w} ${h}">`,
    `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="#ffffff"/>`,
    ...places.map(({ box, place }) => drawBox(box, place)),
    ...routes.map(({ route }) => drawArrow(route.points)),
    ...pills.map(({ box, arrow }) => drawPill(arrow, box)),
    "</svg>",
  ];
  return `${lines.join("\n")}\n`;
}

function drawBox(box: SceneBox, { x, y, w, h }: Box): string {
  const centreX = x + w / 2;
  const centreY = y + h / 2;
  if (box.kind === "initial") return `<circle cx="${centreX}" cy="${centreY}" r="${w / 2}" fill="#18181b"/>`;
  if (box.kind === "history" || box.kind === "deep-history") {
    const letter = box.kind === "history" ? "H" : "H*";
    return (
      `<circle cx="${centreX}" cy="${centreY}" r="${w / 2 - 1}" fill="#ffffff" stroke="#52525b"/>` +
      text(centreX, centreY + 4, letter, { "text-anchor": "middle" })
    );
  }
  const outline = (inset: number, attributes: string): string =>
    `<rect x="${x + inset}" y="${y + inset}" width="${w - 2 * inset}" height="${h - 2 * inset}" rx="${8 - inset}" ${attributes}/>`;
  const isRegion = box.kind === "region";
  const parts = [
    outline(
      0,
      `fill="${box.children.length > 0 ? "#fafafa" : "#ffffff"}" stroke="#52525b"${isRegion ? ' stroke-dasharray="5 4"' : ""}`,
    ),
  ];
  if (box.kind === "final") parts.push(outline(3, 'fill="none" stroke="#52525b"'));
  const title = isRegion ? box.title.toUpperCase() : box.title;
  const titleY = y + size.leafTop + 14;
  parts.push(text(x + size.leafX, titleY, title, { "font-weight": "600" }));
  box.rows.forEach((row, index) => {
    const line = `${row.label} / ${row.text}`;
    parts.push(
      text(x + size.leafX, titleY + (index + 1) * size.rowH, line, {
        "font-family": mono,
        "font-size": "11",
      }),
    );
  });
  return parts.join("");
}

function drawArrow(points: readonly Point[]): string {
  const line = `<path d="${roundedPath(points)}" fill="none" stroke="#3f3f46" stroke-width="1.25"/>`;
  const tip = points.at(-1);
  const before = points.at(-2);
  if (tip === undefined || before === undefined) return line;
  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const [dx, dy] = [(tip.x - before.x) / length, (tip.y - before.y) / length];
  const corner = (side: number): string =>
    `${tip.x - dx * 9 - dy * 4 * side},${tip.y - dy * 9 + dx * 4 * side}`;
  return `${line}<path d="M${tip.x},${tip.y}L${corner(1)}L${corner(-1)}Z" fill="#3f3f46"/>`;
}

function pillOf(
  arrow: SceneArrow,
  { points, label }: Layout["routes"][string],
  measure: Measure,
): { arrow: SceneArrow; box: Box } | null {
  if (arrow.label === null) return null;
  if (label !== undefined) return { arrow, box: label };
  const { w, h } = pillSize(arrow.label, measure);
  const { x, y } = midpoint(points);
  return { arrow, box: { x: x - w / 2, y: y - h / 2, w, h } };
}

function drawPill({ label }: SceneArrow, { x, y, w, h }: Box): string {
  if (label === null) return "";
  const branch = label.branch === null ? "" : `${label.branch} `;
  const head = `${branch}${label.when}${label.guard === null ? "" : ` ${label.guard}`}`;
  const lines =
    label.actions === null ? [head] : label.twoLines ? [head, label.actions] : [`${head} ${label.actions}`];
  const first = y + h / 2 + 4 - ((lines.length - 1) * size.pillLineH) / 2;
  const texts = lines.map((line, index) =>
    text(x + w / 2, first + index * size.pillLineH, line, { "text-anchor": "middle", "font-size": "11.5" }),
  );
  return `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="6" fill="#ffffff" stroke="#d4d4d8"/>${texts.join("")}`;
}

function text(x: number, y: number, content: string, attributes: Readonly<Record<string, string>>): string {
  const all = { "font-family": sans, "font-size": "13", fill: "#18181b", ...attributes };
  const written = Object.entries(all).map(([name, value]) => ` ${name}="${value}"`);
  return `<text x="${x}" y="${y}"${written.join("")}>${escapeText(content)}</text>`;
}

const escapeText = (content: string): string =>
  content
    .replace(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      "\ufffd",
    )
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
