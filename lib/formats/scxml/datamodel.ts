/**
 * <datamodel>: declared names become roots of the chart's context.
 *
 * Holds: every declared name is in the context from the start, null until it has a value; with binding="late" the data
 *        of a state gets its value on first entry (the state's `data`).
 */
import type { Json, JsonObject } from "@/lib/base/json";
import type { Value } from "@/lib/statechart/document";
import { celLiteral, literalValue } from "../literal";
import { inlineData, textData } from "./content";
import type { XmlElement } from "./read-xml";
import { attribute, childrenNamed, type Reading } from "./reading";

/** Reads the <data> directly under `owner`; `late`: into the result instead of the context's first values. */
export function readData(
  reading: Reading,
  owner: XmlElement,
  context: JsonObject,
  late: boolean,
): Record<string, Value> | undefined {
  const bound: Record<string, Value> = {};
  for (const model of childrenNamed(reading, owner, "datamodel"))
    for (const data of childrenNamed(reading, model, "data")) {
      const id = attribute(data, "id")?.trim() ?? "";
      if (id === "" || id === "__proto__") {
        reading.reports.error("bad-id", `<data> needs an id that can be a name, found "${id}".`, data.at);
        continue;
      }
      if (Object.hasOwn(context, id)) {
        reading.reports.error(
          "duplicate-id",
          `<data id="${id}"> stands twice; names are global to the document.`,
          data.at,
        );
        continue;
      }
      const value = readValue(reading, data);
      context[id] =
        "literal" in value && !late
          ? literalContext(value.literal)
          : "cel" in value && !late
            ? { cel: value.cel }
            : null;
      if (late)
        bound[id] =
          "literal" in value ? literalValue(value.literal) : "cel" in value ? value.cel : value.late;
      else if ("late" in value) reading.rootEntry.push({ assign: { [id]: value.late } });
    }
  return late && Object.keys(bound).length > 0 ? bound : undefined;
}

function readValue(
  reading: Reading,
  data: XmlElement,
): { literal: Json } | { cel: string } | { late: Value } {
  const { reports, expressions } = reading;
  const expr = attribute(data, "expr");
  const src = attribute(data, "src");
  if (expr !== null) return expressions.initial(expr, data.at);
  if (src !== null) {
    const text = reading.load(src);
    if (text !== null) return { literal: textData(text) ?? null };
    reports.lose(`<data src="${src}"> could not be read: the name starts as null.`, data.at);
    return { late: expressions.placeholder(src, "its file could not be read", data.at) };
  }
  return { literal: inlineData(data) ?? null };
}

/** `{cel: …}` as a context value would be computed: write such literal data as a CEL map. */
function literalContext(literal: Json): Json {
  const looksComputed =
    typeof literal === "object" &&
    literal !== null &&
    !Array.isArray(literal) &&
    Object.hasOwn(literal, "cel");
  return looksComputed ? { cel: celLiteral(literal) } : literal;
}
