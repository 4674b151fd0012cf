/**
 * Ended instances written into a file before they are purged: everything that is stored of them, the texts of their charts'
 * versions too, so that the file tells their whole history by itself (format: base/archive-lines).
 *
 * Holds: when it returns, the file is whole and on disk under its final name. A crash before leaves a `.part` file, or one
 *        that the next try writes again under another name: an instance may be in two archives, never in none.
 */
import { mkdir, open, rename, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { archiveFormat, linesDigest, type ArchiveHead } from "@/lib/base/archive-lines";
import { must } from "@/lib/base/assert";
import type { DeadLetterCursor } from "@/lib/store/instances";
import type { Store } from "@/lib/store/store";
import type { TaskRow } from "@/lib/store/tasks";

const pageRows = 500;

/** The file's path. */
export async function writeArchive(
  store: Store,
  folder: string,
  { rule, at, instanceIds, by }: { rule: string; at: number; instanceIds: readonly string[]; by: string },
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const name = `${rule}-${new Date(at).toISOString().replace(/[:.]/g, "-")}-${by}.ndjson`;
  const path = join(folder, name);
  const file = await open(`${path}.part`, "w");
  try {
    const head: ArchiveHead = { kind: "archive", format: archiveFormat, rule, at };
    await file.write(`${JSON.stringify(head)}\n`);
    const writer = new Writer(store, file);
    for (const id of instanceIds) await writer.instance(id);
    await file.write(`${JSON.stringify({ kind: "eof", instances: instanceIds.length })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
  // The name itself must outlive a power cut, too.
  const directory = await open(folder, "r");
  await directory.sync().finally(() => directory.close());
  return path;
}

class Writer {
  private readonly versions = new Set<string>();
  private lines: string[] = [];

  constructor(
    private readonly store: Store,
    private readonly file: FileHandle,
  ) {}

  async instance(id: string): Promise<void> {
    const { store } = this;
    const row = must(await store.findInstance(id), "an ended instance is there until it is purged");
    await this.version(row.chartId, row.version);
    this.lines = [];
    this.add("instance", row);
    for (const label of await store.labelsOf([id])) this.add("label", label);
    for (let from = 1; ;) {
      const page = await store.readLog(id, from, pageRows);
      for (const entry of page) {
        await this.version(entry.chartId, entry.version);
        this.add("entry", entry);
      }
      const last = page.at(-1);
      if (!last || page.length < pageRows) break;
      from = last.seq + 1;
    }
    for (const snapshot of await store.readSnapshots(id)) this.add("snapshot", snapshot);
    for (let after: TaskRow | null = null; ;) {
      const page: TaskRow[] = await store.listTasks(id, after, pageRows);
      for (const task of page) this.add("task", task);
      after = page.at(-1) ?? null;
      if (page.length < pageRows) break;
    }
    for (let after: DeadLetterCursor | null = null; ;) {
      const page: DeadLetterCursor[] = await store.listDeadLetters(id, after, pageRows);
      for (const letter of page) this.add("dead-letter", letter);
      after = page.at(-1) ?? null;
      if (page.length < pageRows) break;
    }
    for (const child of await store.readChildren(id)) this.add("child", child);
    const { length } = this.lines;
    const end = { kind: "end", instanceId: id, lines: length, sha256: linesDigest(this.lines) };
    await this.file.write(`${[...this.lines, JSON.stringify(end)].join("\n")}\n`);
  }

  private add(kind: string, row: object): void {
    this.lines.push(JSON.stringify({ ...row, kind, ...("kind" in row ? { rowKind: row.kind } : {}) }));
  }

  /** Written when it is first met, before the lines of the instance that needs it. */
  private async version(chartId: string, version: number): Promise<void> {
    const key = JSON.stringify([chartId, version]);
    if (this.versions.has(key)) return;
    this.versions.add(key);
    const row = await this.store.findVersion(chartId, version);
    if (row) await this.file.write(`${JSON.stringify({ kind: "version", ...row })}\n`);
  }
}
