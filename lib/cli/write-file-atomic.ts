/**
 * A file that is there whole or not at all: written beside its place, forced to disk, then renamed over.
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { reasonOf } from "./read-chart-file";
import { UnwritableError } from "./usage";

/** Throws UnwritableError, which says what and where. */
export function writeOut(path: string, content: string | Uint8Array): void {
  const folder = dirname(path);
  if (!existsSync(folder))
    throw new UnwritableError(
      `${path} cannot be written: there is no folder ${folder}; make it first. Nothing was written.`,
    );
  try {
    writeFileAtomic(path, content);
  } catch (error) {
    throw new UnwritableError(`${path} cannot be written: ${reasonOf(error)}. Nothing was written.`);
  }
}

function writeFileAtomic(path: string, content: string | Uint8Array): void {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = openSync(temporary, "wx", 0o666);
    try {
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
