/**
 * dist/client.d.ts and dist/embedded.d.ts: the types of `lockstep/client` and `lockstep/embedded` for programs outside this
 * repository. The compiler declares what the two entries reach, and nothing else, below dist/types; there, imports by "@/"
 * become relative ones, with the endings that Node wants. `lockstep/cel` has its types written by hand (build-bin.mjs).
 *
 * Holds: what is declared needs this package's own dependencies (zod, cel-js), none of its dev dependencies. Takes some
 *        seconds, so it is skipped while every file that it read is as it was.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, "dist");
const types = join(out, "types");
const stamp = join(types, "stamp.json");
const entries = { client: "lib/client/entry.ts", embedded: "lib/embedded.ts" };
/** What decides beside the sources. */
const settings = ["scripts/build-types.mjs", "tsconfig.json", "package-lock.json"];

const hashOf = (file) =>
  existsSync(join(root, file))
    ? createHash("sha256")
        .update(readFileSync(join(root, file)))
        .digest("hex")
    : null;

if (!isFresh()) build();

function isFresh() {
  if (!existsSync(stamp)) return false;
  if (Object.keys(entries).some((name) => !existsSync(join(out, `${name}.d.ts`)))) return false;
  return Object.entries(JSON.parse(readFileSync(stamp, "utf8"))).every(
    ([file, hash]) => hashOf(file) === hash,
  );
}

function build() {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...config.compilerOptions, plugins: [], incremental: false, tsBuildInfoFile: null },
    root,
  );
  Object.assign(options, { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: root });
  const program = ts.createProgram(
    Object.values(entries).map((file) => join(root, file)),
    options,
  );

  const made = new Map();
  const queue = Object.values(entries).map((file) => join(root, file));
  for (let file = queue.pop(); file; file = queue.pop()) {
    if (made.has(file)) continue;
    const { text, reached } = declare(program, file, options);
    made.set(file, text);
    queue.push(...reached);
  }

  const read = program
    .getSourceFiles()
    .map(({ fileName }) => relative(root, fileName))
    .filter((file) => !file.startsWith("node_modules"));
  const hashes = Object.fromEntries([...settings, ...read].sort().map((file) => [file, hashOf(file)]));

  // Put in the old one's place when it is whole.
  const fresh = `${types}.${process.pid}.tmp`;
  for (const [file, text] of made) write(join(fresh, declarationOf(file)), text);
  write(join(fresh, "stamp.json"), JSON.stringify(hashes, null, 1));
  rmSync(types, { recursive: true, force: true });
  renameSync(fresh, types);
  for (const [name, file] of Object.entries(entries)) {
    const path = join(out, `${name}.d.ts`);
    write(`${path}.${process.pid}.tmp`, `export * from "./types/${file.replace(/\.ts$/, ".js")}";\n`);
    renameSync(`${path}.${process.pid}.tmp`, path);
  }
}

/** A file's declarations, and the files of ours that they name. */
function declare(program, file, options) {
  let text = "";
  const { diagnostics } = program.emit(
    program.getSourceFile(file),
    (_, written) => {
      text = written;
    },
    undefined,
    true,
  );
  for (const { messageText } of diagnostics) {
    throw new Error(`${relative(root, file)}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
  }
  const reached = [];
  // From the end, so that the places before stay right.
  for (const { fileName, pos } of ts.preProcessFile(text, true, true).importedFiles.toReversed()) {
    const found = ts.resolveModuleName(fileName, file, options, ts.sys).resolvedModule;
    if (!found || found.isExternalLibraryImport) continue;
    reached.push(found.resolvedFileName);
    const way = relative(dirname(file), found.resolvedFileName).replace(/\.ts$/, ".js");
    const start = text.indexOf(fileName, pos);
    text =
      text.slice(0, start) + (way.startsWith(".") ? way : `./${way}`) + text.slice(start + fileName.length);
  }
  return { text, reached };
}

function declarationOf(file) {
  return relative(root, file).replace(/\.ts$/, ".d.ts");
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
