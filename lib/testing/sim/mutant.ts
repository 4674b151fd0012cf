/**
 * Both simulators with one place of the product's source changed: bundled, with the change made on the way in, and loaded
 * beside the sound ones.
 *
 * Holds: the text to be changed occurs exactly once in its file; one that has gone stale is an error, never a mutant that is
 *        no other than its original.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import type { withSimulator } from "./sim-main";
import type { openStatementSimulator } from "./statements";

export interface Change {
  /** From the checkout's root. */
  file: string;
  from: string;
  to: string;
}

export interface Simulators {
  withSimulator: typeof withSimulator;
  openStatementSimulator: typeof openStatementSimulator;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The file's text with the change in it. */
export async function changedText({ file, from, to }: Change): Promise<string> {
  const text = await readFile(join(root, file), "utf8");
  const times = text.split(from).length - 1;
  if (times !== 1) throw new Error(`${file} has ${times} times what is to be changed once: ${from}`);
  return text.replace(from, () => to);
}

export async function buildMutant(name: string, changes: readonly Change[]): Promise<Simulators> {
  const texts = new Map<string, string>();
  for (const change of changes) texts.set(join(root, change.file), await changedText(change));
  const plant: Plugin = {
    name: "plant",
    setup(bundle) {
      bundle.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = texts.get(path);
        return contents === undefined ? null : { contents, loader: "ts" };
      });
    },
  };
  // The test runner leaves alone what lies there: anything else it would read as source of its own.
  const outfile = join(root, "node_modules/.cache", `mutant-${name}-${process.pid}.mjs`);
  const entry = `export { withSimulator } from "./sim-main"; export { openStatementSimulator } from "./statements";`;
  await build({
    stdin: { contents: entry, resolveDir: fileURLToPath(new URL(".", import.meta.url)), loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    alias: { "@": root },
    plugins: [plant],
    outfile,
    logLevel: "error",
  });
  try {
    return (await import(pathToFileURL(outfile).href)) as Simulators;
  } finally {
    await rm(outfile, { force: true });
  }
}
