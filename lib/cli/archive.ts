/**
 * `lockstep archive`: what retention has written into files, read without a server.
 *
 * Holds: a file that is cut off or changed is told, exit 1; an instance's lines are compared with the digest at their end.
 */
import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { archiveFormat, linesDigest } from "@/lib/base/archive-lines";
import type { Json, JsonObject } from "@/lib/base/json";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeLine } from "./write-line";

export async function archive(args: string[]): Promise<ExitCode> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: "boolean", default: false }, id: { type: "string" } },
  });
  const [verb, ...files] = positionals;
  if (verb !== "list" && verb !== "show")
    throw new UsageError('archive takes "list FILE…" or "show FILE… --id ID".');
  if (files.length === 0) throw new UsageError(`archive ${verb} needs a file.`);
  if (verb === "show" && values.id === undefined) throw new UsageError("archive show needs --id.");
  let isWhole = true;
  for (const file of files) {
    if (!existsSync(file)) throw new UsageError(`${file} isn't there.`);
    for await (const found of read(file)) {
      if ("wrong" in found) {
        isWhole = false;
        process.stderr.write(`lockstep: ${file}: ${found.wrong}\n`);
      } else if (verb === "list")
        await writeLine(values.json ? JSON.stringify(summaryOf(found)) : lineOf(found));
      else if (found.row["id"] === values.id) for (const line of found.lines) await writeLine(line);
    }
  }
  return isWhole ? exit.ok : exit.chart;
}

interface Archived {
  /** Of the instance as it ended. */
  row: JsonObject;
  lines: string[];
  entries: number;
}

async function* read(file: string): AsyncGenerator<Archived | { wrong: string }> {
  let lines: string[] = [];
  let parsed: JsonObject[] = [];
  let place = 0;
  let isOver = false;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    place += 1;
    const row = parse(line);
    if (!row) {
      yield { wrong: `line ${place} is no JSON object.` };
      return;
    }
    if (place === 1 && row["format"] !== archiveFormat) {
      yield { wrong: "it is no archive of Lockstep's." };
      return;
    }
    switch (row["kind"]) {
      case "archive":
      case "version":
        break;
      case "end": {
        const { instanceId, lines: count, sha256 } = row;
        const entries = parsed.filter(({ kind }) => kind === "entry").length;
        if (count !== lines.length || sha256 !== linesDigest(lines)) {
          yield { wrong: `what it holds of ${textOf(instanceId)} was changed.` };
        } else yield { row: parsed[0] ?? {}, lines, entries };
        [lines, parsed] = [[], []];
        break;
      }
      case "eof":
        isOver = true;
        break;
      default:
        lines.push(line);
        parsed.push(row);
    }
  }
  if (!isOver) yield { wrong: "it is cut off: its last line is missing." };
}

function parse(line: string): JsonObject | null {
  try {
    const row = JSON.parse(line) as unknown;
    return typeof row === "object" && row !== null && !Array.isArray(row) ? (row as JsonObject) : null;
  } catch {
    return null;
  }
}

const summaryOf = ({ row, entries }: Archived): JsonObject => {
  const { id = null, status = null, chartId = null, version = null, seq = null, endedAt = null } = row;
  return { id, status, chartId, version, seq, endedAt, entries };
};

function lineOf(found: Archived): string {
  const { id, status, chartId, version, endedAt } = summaryOf(found);
  const ended = typeof endedAt === "number" ? new Date(endedAt).toISOString() : "-";
  const chart = `${textOf(chartId)} v${textOf(version)}`;
  return [textOf(id), textOf(status), chart, `${found.entries} entries`, ended].join("\t");
}

const textOf = (value: Json | undefined): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? "");
