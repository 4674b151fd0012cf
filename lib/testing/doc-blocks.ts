/**
 * Code blocks of our own documents, for the tests that execute them.
 */
import { readFileSync } from "node:fs";

/** The bodies of all fenced blocks with this language, in order. */
export function docBlocks(file: string, language: string): string[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2] ?? "");
}
