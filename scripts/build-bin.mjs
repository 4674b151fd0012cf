/**
 * dist/lockstep.js (the command, whole) and dist/serve.js (the server's entry, its packages left in node_modules) as
 * esbuild bundles, for Node 20 cannot run TypeScript. Runs in `prepare` and again before start and tests; well under a
 * second.
 */
import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, "dist");
mkdirSync(out, { recursive: true });

const shared = {
  absWorkingDir: root,
  outdir: out,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  alias: { "@": root },
  logLevel: "warning",
};
const [{ metafile }] = await Promise.all([
  build({
    ...shared,
    entryPoints: { lockstep: "lib/cli/lockstep.ts" },
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    banner: { js: "#!/usr/bin/env node" },
    metafile: true,
  }),
  // Next and Prisma find their own files only from node_modules.
  build({ ...shared, entryPoints: { serve: "lib/serve.ts" }, packages: "external" }),
]);
chmodSync(join(out, "lockstep.js"), 0o755);

// Chunks of an earlier build: nothing points at them any more.
const made = new Set(Object.keys(metafile.outputs).map((path) => join(root, path)));
const chunks = join(out, "chunks");
for (const name of readdirSync(chunks)) if (!made.has(join(chunks, name))) rmSync(join(chunks, name));
