/** An option that is JSON; what does not parse is told with its place, and as it came out of the shell's quotes. */
import type { Json } from "@/lib/base/json";
import { parseJson } from "@/lib/formats/parse-json";
import { UsageError } from "./usage";

const shownCharsMax = 80;

export function readJson(name: string, text: string): Json {
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  const { line, column } = parsed.at;
  const read =
    text === ""
      ? "an empty text"
      : text.length > shownCharsMax
        ? `${text.slice(0, shownCharsMax)}… (${text.length} characters)`
        : text;
  throw new UsageError(
    `${name} takes JSON. At line ${line}, column ${column}: ${parsed.message}. What was read: ${read}`,
  );
}
