/**
 * What the long campaigns share: their options, and their TypeScript made runnable.
 */
import { mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** `--name N` for each of `defaults`; anything else ends with the usage. */
export function wholeNumbers(command, defaults) {
  const names = Object.keys(defaults);
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    const { values } = parseArgs({ options });
    const numbers = Object.fromEntries(names.map((name) => [name, Number(values[name] ?? defaults[name])]));
    if (Object.values(numbers).every((number) => Number.isSafeInteger(number) && number >= 0)) return numbers;
  } catch (error) {
    if (!String(error?.code).startsWith("ERR_PARSE_ARGS")) throw error;
  }
  const usage = names.map((name) => `[--${name} N]`).join(" ");
  process.stderr.write(`usage: npm run ${command} -- ${usage}\n`);
  process.exit(2);
}

export const buildDriver = async (entry) => import(pathToFileURL(await bundleDriver(entry)).href);

/** Bundles into .cache/; the path. */
export async function bundleDriver(entry) {
  process.chdir(root);
  mkdirSync(".cache", { recursive: true });
  const outfile = join(root, ".cache", `${basename(entry, ".ts")}.mjs`);
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    alias: { "@": root },
    outfile,
    logLevel: "error",
  });
  return outfile;
}
