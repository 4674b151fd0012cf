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

/** Of fields, as lists are searched by them; undefined: by none. */
export const searchFields = (texts: readonly string[]): string[] | undefined =>
  texts.length === 0 ? undefined : texts.map((text) => readPair("--index", "FIELD=VALUE", text).join(":"));

function readPair(name: string, form: string, text: string): [key: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`${name} takes ${form}, not ${text}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}
