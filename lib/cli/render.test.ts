/**
 * `lockstep render` on the bundle that people run.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SaxesParser } from "saxes";

const root = join(import.meta.dirname, "../..");
let folder = "";
beforeAll(() => {
  execFileSync(process.execPath, [join(root, "scripts/build-bin.mjs")]);
  folder = mkdtempSync(join(tmpdir(), "lockstep-render-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const render = (from: string, to: string): { status: number | null; stderr: string } =>
  spawnSync(process.execPath, [join(root, "dist/lockstep.js"), "render", from, to], { encoding: "utf8" });

/** The document's texts; throws where it is not well-formed. */
function textsOf(path: string): string[] {
  const texts: string[] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("text", (text) => {
    if (text.trim() !== "") texts.push(text);
  });
  parser.write(readFileSync(path, "utf8")).close();
  return texts;
}

test("the microwave becomes well-formed SVG with its names as text, its arrows as paths", () => {
  const to = join(folder, "microwave.svg");
  const { status, stderr } = render(join(root, "examples/microwave.scxml"), to);
  expect(status).toBe(0);
  // The bundle carries ELK's thread: no grid.
  expect(stderr).not.toContain("grid");
  expect(textsOf(to)).toEqual(expect.arrayContaining(["ENGINE", "DOOR"]));
  expect(readFileSync(to, "utf8").match(/<path /g)?.length).toBeGreaterThan(8);
});

test("and PNG, by render and by convert alike", () => {
  const to = join(folder, "microwave.png");
  expect(render(join(root, "examples/microwave.scxml"), to)).toMatchObject({ status: 0 });
  const png = readFileSync(to);
  expect(png.subarray(1, 4).toString("latin1")).toBe("PNG");
  // Width and height stand in the header; two pixels to a unit of the drawing.
  const svg = join(folder, "same.svg");
  expect(render(join(root, "examples/microwave.scxml"), svg)).toMatchObject({ status: 0 });
  const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(readFileSync(svg, "utf8")) ?? [];
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([2 * Number(width), 2 * Number(height)]);
  const again = join(folder, "again.png");
  const done = spawnSync(process.execPath, [
    join(root, "dist/lockstep.js"),
    "convert",
    join(root, "examples/microwave.scxml"),
    again,
  ]);
  expect(done.status).toBe(0);
  expect(readFileSync(again).equals(png)).toBe(true);
});

test("markup in names and guards stays text", () => {
  const from = join(folder, "markup.json");
  const name = '<script>alert("1")</script>&amp;\u0001';
  writeFileSync(
    from,
    JSON.stringify({
      lockstep: 1,
      initial: name,
      states: { [name]: { on: { "<b>": { target: "b", guard: "1 < 2" } } }, b: {} },
    }),
  );
  const to = join(folder, "markup.svg");
  expect(render(from, to)).toMatchObject({ status: 0 });
  expect(textsOf(to)).toEqual(
    expect.arrayContaining(['<script>alert("1")</script>&amp;\ufffd', "<b> [1 < 2]"]),
  );
  expect(readFileSync(to, "utf8")).not.toContain("<script");
});

test("a chart with errors: exit 1; another extension: exit 2; nothing written", () => {
  const from = join(folder, "bad.json");
  writeFileSync(
    from,
    JSON.stringify({ lockstep: 1, initial: "a", states: { a: { on: { go: "nowhere" } } } }),
  );
  expect(render(from, join(folder, "bad.svg"))).toMatchObject({ status: 1 });
  expect(render(from, join(folder, "bad.png"))).toMatchObject({ status: 1 });
  expect(render(from, join(folder, "bad.gif"))).toMatchObject({ status: 2 });
  expect(existsSync(join(folder, "bad.svg")) || existsSync(join(folder, "bad.png"))).toBe(false);
});

test("a chart too dense for ELK and the router is drawn in a grid once the bound is over", async () => {
  await build({
    absWorkingDir: root,
    entryPoints: { draw: "lib/cli/draw.ts", "layout-thread": "lib/cli/layout-thread.ts" },
    outdir: folder,
    bundle: true,
    format: "esm",
    platform: "node",
    alias: { "@": root },
    external: ["@resvg/resvg-js"],
  });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const count = 200;
  const target = (index: number): string => `s${index % count}`;
  const states = Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `s${i}`,
      { on: { a: target(7 * i + 1), b: target(7 * i + 14), c: target(7 * i + 27) } },
    ]),
  );
  const chart = JSON.stringify({ lockstep: 1, initial: "s0", states });
  const program = join(folder, "draw-dense.js");
  writeFileSync(
    program,
    `import { draw } from "./draw.js";
    process.stdout.write(JSON.stringify(await draw(${chart}, "dense", "svg", 300)));`,
  );
  // Either alone, ELK or the router without a bound, takes longer than this.
  const done = spawnSync(process.execPath, [program], { encoding: "utf8", timeout: 50_000 });
  expect(done).toMatchObject({ status: 0, stderr: "" });
  const { content, failure } = JSON.parse(done.stdout) as { content: string; failure: string };
  expect(failure).toContain("no layout within 0.3 s");
  expect(content.match(/<path /g)?.length).toBeGreaterThanOrEqual(3 * count);
}, 60_000);
