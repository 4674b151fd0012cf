/**
 * TypeScript as a program of its own, for tests that need a process: bundled into .cache, and how Node runs it.
 */
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { build } from "esbuild";

/**
 * A process that lives for a second spends nearly half of it on compiling Prisma's WebAssembly once more, for speed that it
 * never has any use for.
 */
export const nodeFlags: readonly string[] = ["--liftoff-only"];

/** The program's path. `name`: nobody else's who bundles at the same time. */
export async function bundleProgram(entry: string, name: string): Promise<string> {
  await mkdir(".cache", { recursive: true });
  const outfile = resolve(`.cache/${name}.mjs`);
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    outfile,
    logLevel: "error",
  });
  return outfile;
}
