/** An option that may stand several times, each time `KEY=VALUE`; `form` is how the help writes it. */
import { labelFilterOf } from "@/lib/base/label-filter";
import { UsageError } from "./usage";

export const readPairs = (name: string, form: string, texts: readonly string[]): Record<string, string> =>
  Object.fromEntries(texts.map((text) => readPair(name, form, text)));

/** Of labels, as lists are searched by them; undefined: by none. */
export const searchLabels = (texts: readonly string[]): string[] | undefined =>
  texts.length === 0
    ? undefined
    : texts.map((text) => labelFilterOf(...readPair("--label", "KEY=VALUE", text)));

/** Of a chart's fields, as lists are searched by them; undefined: by none. */
export function searchFields(texts: readonly string[], chart: string | undefined): string[] | undefined {
  if (texts.length === 0) return undefined;
  if (chart === undefined)
    throw new UsageError("--index needs --chart: its settings.index names the fields.");
  return texts.map((text) => readPair("--index", "FIELD=VALUE", text).join(":"));
}

function readPair(name: string, form: string, text: string): [key: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`${name} takes ${form}, not ${text}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}
