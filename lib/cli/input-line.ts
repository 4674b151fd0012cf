/**
 * The text of one line of a run's input, within bounds.
 */
import { parseJson } from "@/lib/formats/parse-json";
import { readInputLine, type InputLine } from "@/lib/play/input-line";

// As the HTTP API: larger payloads are refused before they are parsed whole.
const lineCharsMax = 256 * 1024;

export function parseInputLine(text: string): InputLine | { problem: string } {
  if (text.length > lineCharsMax)
    return { problem: `it has ${text.length} characters; at most ${lineCharsMax} are read` };
  const parsed = parseJson(text);
  if (!parsed.ok) return { problem: `it is not JSON: ${parsed.message} (column ${parsed.at.column})` };
  return readInputLine(parsed.value);
}
