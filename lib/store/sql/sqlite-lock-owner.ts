/**
 * Which process holds a SQLite file's write lock: what an operator has to let go on, or to end, when nobody else gets it.
 *
 * SQLite: "WAL-mode file format", 2.3: the write lock is byte 120 of the -shm file. Linux lists who holds it in /proc/locks;
 * elsewhere nobody tells.
 */
import { readFileSync, statSync } from "node:fs";

const writeLockByte = "120";

/** Null: nobody does, or it can't be told. */
export function writeLockOwner(path: string): number | null {
  try {
    const { ino } = statSync(`${path}-shm`);
    // "1: POSIX  ADVISORY  WRITE 4711 fe:01:131 120 120"
    for (const line of readFileSync("/proc/locks", "utf8").split("\n")) {
      const [, , , kind, pid, file, from] = line.trim().split(/\s+/);
      if (kind === "WRITE" && from === writeLockByte && file?.split(":")[2] === String(ino))
        return Number(pid);
    }
  } catch {
    // No such system.
  }
  return null;
}
