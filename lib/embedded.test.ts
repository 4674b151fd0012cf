/**
 * The runtime in a process of one's own: README.md's example as it stands there, and what it promises.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, test } from "vitest";
import { build } from "esbuild";
import type { JsonObject } from "@/lib/base/json";
import { docBlocks } from "@/lib/testing/doc-blocks";
import { openEmbedded, type Embedded } from "./embedded";

const order: JsonObject = {
  lockstep: 1,
  tasks: { charge: {} },
  context: { tries: 0 },
  initial: "open",
  states: {
    open: { on: { pay: "paying" }, after: { "1h": "expired" } },
    paying: { invoke: { src: "charge", onDone: "paid", onError: "open" } },
    paid: { after: { "1d": "archived" } },
    archived: { type: "final" },
    expired: { type: "final" },
  },
};

let lockstep: Embedded;
afterEach(() => lockstep.close());
const stateOf = async (instanceId: string) => (await lockstep.getInstance({ instanceId })).configuration;

test("time stands still until it is advanced, and everything happens when it is due", async () => {
  const asked: unknown[] = [];
  lockstep = await openEmbedded({
    startAt: 1_000_000,
    tasks: {
      charge: (_input, { attempt }) => {
        asked.push(attempt);
        if (attempt < 3) throw new Error("the bank is closed");
        return "receipt";
      },
    },
  });
  await lockstep.publish("order", order);
  await lockstep.startInstance({ chartId: "order", id: "o1" });
  await lockstep.startInstance({ chartId: "order", id: "o2" });
  expect(await lockstep.step()).toBe(false);
  await lockstep.advance(3_599_999);
  expect(await stateOf("o1")).toEqual(["open"]);
  await lockstep.sendEvent({ instanceId: "o1", type: "pay" });
  expect(await stateOf("o1")).toEqual(["paying"]);
  await lockstep.advance(1);
  expect([await stateOf("o1"), await stateOf("o2")]).toEqual([["paying"], ["expired"]]);
  expect(asked).toEqual([1]);
  // Two pauses between attempts, then a day.
  await lockstep.advance(60_000);
  expect([asked, await stateOf("o1")]).toEqual([[1, 2, 3], ["paid"]]);
  await lockstep.advance(86_400_000);
  expect(await stateOf("o1")).toEqual(["archived"]);
  expect(await lockstep.now()).toBe(1_000_000 + 3_600_000 + 60_000 + 86_400_000);
  const { items } = await lockstep.getLog({ instanceId: "o2" });
  expect(items[0]).toMatchObject({ kind: "timer", at: 4_600_000 });
  expect(await lockstep.getState({ instanceId: "o1" })).toMatchObject({ hashMatches: true });
});

test("a file keeps everything, time too", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lockstep-embedded-"));
  try {
    const file = join(folder, "orders.db");
    lockstep = await openEmbedded({ file, startAt: 5_000 });
    await lockstep.publish("order", order);
    await lockstep.startInstance({ chartId: "order", id: "o" });
    await lockstep.advance(3_000_000);
    await lockstep.close();
    lockstep = await openEmbedded({ file, startAt: 1 });
    expect(await lockstep.now()).toBeGreaterThanOrEqual(5_000);
    await lockstep.advance(4_000_000);
    expect(await stateOf("o")).toEqual(["expired"]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("two in memory know nothing of each other", async () => {
  const other = await openEmbedded();
  lockstep = await openEmbedded();
  await lockstep.publish("order", order);
  expect((await other.listCharts({})).items).toEqual([]);
  await other.close();
});

test("README.md's example runs in plain Node", async () => {
  lockstep = await openEmbedded();
  const source = docBlocks("README.md", "ts").find((body) => body.includes("openEmbedded")) ?? "";
  expect(source).toContain("advance");
  const folder = await mkdtemp(join(process.cwd(), ".cache", "embedded-"));
  try {
    const entry = join(folder, "example.ts");
    await writeFile(
      entry,
      source.replace('"lockstep/embedded"', JSON.stringify(join(process.cwd(), "lib/embedded.ts"))),
    );
    const outfile = join(folder, "example.mjs");
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      packages: "external",
      alias: { "@": process.cwd() },
      logLevel: "error",
    });
    const { said } = (await import(pathToFileURL(outfile).href)) as { said: string[] };
    expect(said).toEqual(["open", "expired"]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
