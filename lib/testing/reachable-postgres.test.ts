import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("a run that has failed ends as failed, though it has loaded PostgreSQL's package", async () => {
  const outfile = join(process.cwd(), ".cache/reachable-postgres.mjs");
  await build({
    entryPoints: ["lib/testing/reachable-postgres.ts"],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
  });
  const program = `const { reachablePostgres } = await import(${JSON.stringify(pathToFileURL(outfile).href)});
    const { dispose } = await reachablePostgres();
    await dispose();
    process.exitCode = 3;`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 3, stderr: "" });
});
