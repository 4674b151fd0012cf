/**
 * `npm run bench -- NAME`: bundles bench/NAME.ts and runs it as production code, as `npm start` runs it. The engine's bench
 * has a young generation so large that allocations can be counted.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [name = "", ...args] = process.argv.slice(2);
if (!/^[\w-]+$/.test(name) || !existsSync(join(root, "bench", `${name}.ts`))) {
  const names = readdirSync(join(root, "bench")).flatMap((file) =>
    file.endsWith(".ts") ? [file.slice(0, -3)] : [],
  );
  console.error(`bench: say what to measure: ${names.join(", ")}`);
  process.exit(2);
}
const outfile = join(root, ".cache", `bench-${name}.mjs`);
await build({
  absWorkingDir: root,
  entryPoints: [`bench/${name}.ts`],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  alias: { "@": root },
  logLevel: "warning",
});
const flags = name === "engine" ? ["--min-semi-space-size=64", "--max-semi-space-size=64"] : [];
const done = spawnSync(process.execPath, [...flags, outfile, ...args], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, NODE_ENV: "production" },
});
process.exit(done.status ?? 1);
