/**
 * Where a test's databases lie: in memory, where there is room. A new PostgreSQL database costs a tenth there, and what the
 * tests kill is processes, never the machine. What measures stays on the disk.
 */
import { existsSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const memory = "/dev/shm";
/** Containers give 64 MB by default; a whole run takes some hundred. */
const neededBytes = 2 ** 31;

export function quickFolder(): string {
  if (process.env["LOCKSTEP_FAILURES"] === "long" || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= neededBytes ? memory : tmpdir();
}
