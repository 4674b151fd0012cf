/**
 * dist/lockstep.js (the command, whole), dist/cel.js (`lockstep/cel`, whole), and with packages left in node_modules
 * dist/serve.js and dist/worker.js (a server's and a worker's entry), dist/client.js (`lockstep/client`) and dist/embedded.js
 * (`lockstep/embedded`; the types of both: build-types.mjs) as esbuild bundles, for Node 20 cannot run TypeScript. Runs in
 * `prepare` and again before start and tests; well under a second. Only what changed is written, each file at once, so that a
 * command that runs meanwhile never sees half a file.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, "dist");
const chunks = join(out, "chunks");
mkdirSync(chunks, { recursive: true });

const shared = {
  absWorkingDir: root,
  outdir: out,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  alias: { "@": root },
  logLevel: "warning",
  write: false,
};
const builds = await Promise.all([
  build({
    ...shared,
    // The layout's thread lies beside the chunk that starts it.
    entryPoints: { lockstep: "lib/cli/lockstep.ts", "chunks/layout-thread": "lib/cli/layout-thread.ts" },
    splitting: true,
    // A native module: found in node_modules, and only there.
    external: ["@resvg/resvg-js"],
    chunkNames: "chunks/[name]-[hash]",
    banner: { js: "#!/usr/bin/env node" },
  }),
  // What a machine written as a TypeScript module evaluates its CEL with, in Node and in browsers.
  build({
    ...shared,
    entryPoints: { cel: "lib/formats/xstate/cel-runtime.ts" },
    platform: "neutral",
    target: "es2022",
    mainFields: ["module", "main"],
  }),
  // In Node and in browsers' bundles; its zod is the one that its types name.
  build({
    ...shared,
    entryPoints: { client: "lib/client/entry.ts" },
    platform: "neutral",
    target: "es2022",
    packages: "external",
  }),
  // Next and Prisma find their own files only from node_modules.
  build({
    ...shared,
    entryPoints: { serve: "lib/serve.ts", worker: "lib/worker.ts", embedded: "lib/embedded.ts" },
    packages: "external",
  }),
]);

const files = builds.flatMap(({ outputFiles }) => outputFiles);
files.push({
  path: join(out, "cel.d.ts"),
  contents: Buffer.from(
    `${readFileSync(join(root, "lib/formats/xstate/lockstep-cel.ts"), "utf8")}\nexport declare function cel(options?: CelOptions): Cel;\n`,
  ),
});
// The entry points at the chunks: they come first.
for (const { path, contents } of files.toSorted(
  (a, b) => b.path.split("/").length - a.path.split("/").length,
)) {
  if (existsSync(path) && readFileSync(path).equals(contents)) continue;
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, contents);
  if (path.endsWith("lockstep.js")) chmodSync(temporary, 0o755);
  renameSync(temporary, path);
}

// Chunks of an earlier build: nothing points at them any more.
const made = new Set(files.map(({ path }) => path));
for (const name of readdirSync(chunks))
  if (!made.has(join(chunks, name))) rmSync(join(chunks, name), { force: true });
