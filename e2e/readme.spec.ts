/**
 * The README's HTTP calls, run as they stand against the running product.
 */
import { spawnSync } from "node:child_process";
import { expect, test } from "@playwright/test";
import { docBlocks } from "../lib/testing/doc-blocks";

test("the README's calls start an order and pay it", ({ baseURL }) => {
  const block = docBlocks("README.md", "sh").find((body) => body.includes("curl")) ?? "";
  expect(block).toContain("/events");
  for (const call of block
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.startsWith("curl"))) {
    const done = spawnSync("bash", ["-c", call.replaceAll("http://127.0.0.1:3000", baseURL ?? "")], {
      encoding: "utf8",
    });
    expect(done.status, call).toBe(0);
    const answer = JSON.parse(done.stdout) as { error?: { code: string } | null };
    expect(answer.error ?? null, call).toBeNull();
  }
});
