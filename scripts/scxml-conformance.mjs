/**
 * Writes docs/conformance.md: which public SCXML cases are run, and what excludes the others.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const outfile = join(root, ".cache/scxml-conformance.mjs");
await build({
  absWorkingDir: root,
  entryPoints: ["lib/cli/scxml-conformance.ts"],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  alias: { "@": root },
  logLevel: "warning",
});
const { conformanceReport, readCases } = await import(pathToFileURL(outfile).href);
writeFileSync(join(root, "docs/conformance.md"), conformanceReport(readCases()));
