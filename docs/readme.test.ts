/**
 * The README's command lines do what they show. (Its HTTP calls run in e2e/readme.spec.ts, against a running product.)
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { docBlocks } from "@/lib/testing/doc-blocks";

const block = docBlocks("README.md", "sh").find((body) => body.includes("npx lockstep")) ?? "";
const lines = block.split("\n").filter((line) => line.startsWith("npx lockstep "));

test("the README shows the command line", () => {
  expect(lines.length).toBeGreaterThanOrEqual(3);
});

test.each(lines)("%s", (line) => {
  const scratch = mkdtempSync(join(tmpdir(), "lockstep-readme-"));
  const args = line.replace("npx lockstep ", "").replaceAll("/tmp/", `${scratch}/`).split(" ");
  const done = spawnSync(process.execPath, ["dist/lockstep.js", ...args], { encoding: "utf8" });
  expect(done.stderr.includes("error") ? done.stderr : "").toBe("");
  expect(done.status).toBe(0);
});
