/**
 * The stubs of `--stubs FILE`, as written and as read.
 */
import { readFileSync } from "node:fs";
import { isJsonObject, type JsonObject } from "@/lib/base/json";
import { parseJson } from "@/lib/formats/parse-json";
import { parseStubs, type Stubs } from "@/lib/play/stubs";
import { reasonOf } from "./read-chart-file";
import { UsageError } from "./usage";

export function readStubsFile(file: string): { json: JsonObject; stubs: Stubs } {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${reasonOf(error)}.`);
  }
  const parsed = parseJson(text);
  if (!parsed.ok)
    throw new UsageError(`${file}:${parsed.at.line}:${parsed.at.column}: not JSON: ${parsed.message}.`);
  const stubs = parseStubs(parsed.value);
  if ("problem" in stubs) throw new UsageError(`${file}: ${stubs.problem}.`);
  return { json: isJsonObject(parsed.value) ? parsed.value : {}, stubs };
}
