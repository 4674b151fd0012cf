/**
 * `npm start` on a throw-away PostgreSQL, for the journeys: the database comes before the server and goes after it.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { root } from "./steps.mjs";

const outfile = join(root, ".cache/postgres-server.mjs");
await build({
  absWorkingDir: root,
  entryPoints: ["lib/testing/postgres-server.ts"],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  logLevel: "warning",
});
const { startPostgres } = await import(pathToFileURL(outfile).href);
const database = await startPostgres();
const server = spawn(process.execPath, [join(root, "scripts/start.mjs")], {
  stdio: "inherit",
  env: { ...process.env, DATABASE_URL: database.url },
});
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => server.kill("SIGTERM"));
server.once("exit", (code) => void database.stop().finally(() => process.exit(code ?? 1)));
