/**
 * Any text a person drops on us → a chart, with everything worth saying about it. Used by the editor in the browser and
 * by the command line alike.
 *
 * Holds: never throws, whatever the text; time and memory are bounded (importBounds); a refused text says why and, where
 *        that makes sense, at which line and column.
 */
import { isJsonObject } from "@/lib/base/json";
import { importBounds, refuse, type FormatName, type ImportResult } from "./import-result";
import { parseJson } from "./parse-json";
import { readMermaid } from "./mermaid/read-mermaid";
import { readLockstep, unknownVersion } from "./lockstep/read-lockstep";
import { readScxml } from "./scxml/read-scxml";
import { statePositions } from "./state-positions";
import { readSource } from "./xstate/read-source";
import { readXState } from "./xstate/read-xstate";

export interface ImportHint {
  /** Decides only where the text itself does not. */
  fileName?: string;
  /** Reads a file the text names by `src`, relative to it; null when it cannot be read. Default: none can. */
  load?: (src: string) => string | null;
}

export function importChart(text: string, hint: ImportHint = {}): ImportResult {
  const format = detectFormat(text, hint.fileName);
  if (text.length > importBounds.charsMax)
    return refuse(
      format ?? "lockstep",
      "too-large",
      `The text has ${text.length} characters; up to ${importBounds.charsMax} are read. Split the chart or remove embedded data.`,
    );
  const content = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (format === null)
    return refuse(
      "lockstep",
      "unknown-format",
      content.trim() === ""
        ? "The text is empty."
        : "This is neither JSON (a chart of ours, XState, Stately), XML (SCXML), a Mermaid stateDiagram, nor source with a createMachine({…}).",
      { line: 1, column: 1 },
    );
  if (format === "scxml") return readScxml(content, hint.load);
  if (format === "mermaid") return readMermaid(content);
  if (isSource(content, hint.fileName)) return readSource(content);
  return importJson(content, format);
}

function importJson(text: string, format: FormatName): ImportResult {
  const parsed = parseJson(text);
  if (!parsed.ok) return refuse(format, "bad-json", `This is not valid JSON: ${parsed.message}.`, parsed.at);
  const { value, keyOrder, offsets } = parsed;
  const positions = statePositions(value, offsets, text);
  if (isJsonObject(value) && value.lockstep !== undefined) {
    if (value.lockstep !== 1)
      return { ...refuse("lockstep", "", ""), diagnostics: [unknownVersion(value.lockstep)] };
    return { ...readLockstep(value, keyOrder), positions };
  }
  return { ...readXState(value), positions };
}

/** By how it starts; a text that starts like none of them goes by its file's name. */
function detectFormat(text: string, fileName = ""): FormatName | null {
  const first = /^\uFEFF?\s*(\S)/.exec(text.slice(0, 10_000))?.[1];
  if (first === "<") return "scxml";
  if (isSource(text, fileName)) return "xstate";
  if (first === "{" || first === "[")
    return /"lockstep"\s*:/.test(text.slice(0, 100_000)) ? "lockstep" : "xstate";
  if (/\.(?:mmd|mermaid)$/i.test(fileName) || startsDiagram.test(text.slice(0, 10_000))) return "mermaid";
  if (/\.(?:scxml|xml)$/i.test(fileName)) return "scxml";
  if (/\.json$/i.test(fileName)) return "lockstep";
  return null;
}

/** A program by its name, or, where the name says nothing, by what it does. */
function isSource(text: string, fileName = ""): boolean {
  if (/\.[cm]?[jt]sx?$/i.test(fileName)) return true;
  const said =
    /\.(?:json|scxml|xml|mmd|mermaid)$/i.test(fileName) || /^\uFEFF?\s*[{[<]/.test(text.slice(0, 10_000));
  return !said && /\b(?:createMachine|Machine)\s*\(/.test(text.slice(0, 1_000_000));
}

/** The diagram's first line, after front matter, comments and directives. */
const startsDiagram = /^\uFEFF?\s*(?:---[^]*?\n---\s)?(?:\s|%%[^\n]*\n)*stateDiagram/;
