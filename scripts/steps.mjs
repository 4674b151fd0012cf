/**
 * The steps from a fresh clone to a running product, each skipped when its inputs haven't changed. Plain Node, no
 * dependencies: this runs before there is a node_modules.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const say = (text) => process.stderr.write(`lockstep: ${text}\n`);

// Prisma wants to download an engine that its generator never runs; an existing file stops it.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;
process.env.PRISMA_HIDE_UPDATE_MESSAGE ??= "1";
process.env.NEXT_TELEMETRY_DISABLED ??= "1";

/** Runs a command in the project's folder; ends this process with its code when it fails. */
export function run(command, args, env = {}) {
  const done = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  if (done.error) {
    say(`${command} could not be started: ${done.error.message}`);
    process.exit(1);
  }
  if (done.status !== 0) {
    say(`"${[command, ...args].join(" ")}" failed (exit ${done.status ?? done.signal}).`);
    process.exit(done.status ?? 1);
  }
}

/** npm ci, when what is installed isn't what the lock file names. */
export function install() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    say(`Node ${process.versions.node} is too old: Lockstep needs 20.19 or newer.`);
    process.exit(1);
  }
  if (installed()) return;
  say("installing packages (npm ci) …");
  run(process.platform === "win32" ? "npm.cmd" : "npm", ["ci", "--no-audit", "--no-fund"]);
}

function installed() {
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const file = join(root, "node_modules/.package-lock.json");
  if (!existsSync(file)) return false;
  const have = JSON.parse(readFileSync(file, "utf8")).packages;
  return Object.entries(wanted).every(([path, { version, optional, peer }]) => {
    if (path === "") return true;
    if (have[path]) return have[path].version === version;
    return Boolean(optional || peer);
  });
}

/** The two database clients, from prisma/. */
export const generateClients = () => run(process.execPath, ["scripts/generate-clients.mjs"]);

/** dist/: the `lockstep` command, the server's entry, what other programs import. */
export const buildBin = () => run(process.execPath, ["scripts/build-bin.mjs"]);
/** The types of what other programs import. */
export const buildTypes = () => run(process.execPath, ["scripts/build-types.mjs"]);

/** The console and the API, when anything they are made of changed. */
export function buildApp() {
  const stamp = join(root, ".next/lockstep-sources");
  const now = sourcesHash();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === now) return;
  say("building the console (half a minute, only when sources change) …");
  run(process.execPath, ["node_modules/next/dist/bin/next", "build"]);
  writeFileSync(stamp, now);
}

function sourcesHash() {
  const hash = createHash("sha256").update(process.version);
  for (const place of [
    "app",
    "components",
    "lib",
    "prisma",
    "next.config.ts",
    "instrumentation.ts",
    "proxy.ts",
    "package-lock.json",
    "postcss.config.mjs",
    "tsconfig.json",
  ]) {
    for (const file of filesBelow(join(root, place))) {
      if (/\.test\.tsx?$/.test(file)) continue;
      hash.update(file.slice(root.length)).update("\0").update(readFileSync(file)).update("\0");
    }
  }
  return hash.digest("hex");
}

function filesBelow(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)],
    );
}

/**
 * A Chromium for the browser journeys: CHROMIUM_PATH, the system's, Playwright's own, or one installed now. Returns the
 * path, or null when Playwright knows its own.
 */
export function browser() {
  const known = [process.env.CHROMIUM_PATH, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
    (path) => path && existsSync(path),
  );
  if (known) return known;
  const playwright = ["node_modules/playwright/cli.js", "install", "--with-deps", "chromium"];
  say("no Chromium found: asking Playwright for one …");
  if (spawnSync(process.execPath, playwright, { cwd: root, stdio: "inherit" }).status === 0) return null;
  if (process.getuid?.() === 0 && existsSync("/etc/debian_version")) {
    say("installing Debian's chromium …");
    spawnSync("apt-get", ["update", "-qq"], { stdio: "inherit" });
    spawnSync("apt-get", ["install", "-y", "-qq", "chromium"], {
      stdio: "inherit",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    if (existsSync("/usr/bin/chromium")) return "/usr/bin/chromium";
  }
  say("No Chromium could be installed. Install one and name it: CHROMIUM_PATH=/path/to/chromium npm test");
  return process.exit(1);
}

export { say };
