/**
 * A refusal that names fields of the call, in the command's words: a field is told as the option, or the word, that it came from.
 *
 * Holds: only what stands where a refusal names its fields (first, or first behind a semicolon) is told otherwise; values and the
 *        rest of the sentence stay as they were. What a field holds stays behind it: `body.fences.0.key` is `--fences.0.key`.
 */
import type { LockstepError } from "@/lib/base/errors";

/**
 * Of one command: fields whose option isn't called as they are. A field may stand there with where it is (`path.key`), or by its
 * name alone.
 */
export type OptionNames = Readonly<Record<string, string>>;

export function toldByOption({ message, details }: LockstepError, names: OptionNames): string {
  let told = message;
  for (const field of fieldsOf(details)) {
    const found = new RegExp(`(^|; )${field.replaceAll(/[^\w]/g, "\\$&")}(?![\\w-])`, "g");
    told = told.replaceAll(found, (_, before: string) => before + optionOf(field, names));
  }
  return told;
}

/** Longest first: `seq` must not take the place of `seq.at`. */
function fieldsOf({ field, issues }: LockstepError["details"]): string[] {
  const more = Array.isArray(issues)
    ? issues.map((issue) => (issue as { field?: unknown } | null)?.field)
    : [];
  const all = new Set([field, ...more].filter((each) => typeof each === "string" && each !== ""));
  return ([...all] as string[]).sort((a, b) => b.length - a.length);
}

/** Where the API has it; the command has its options side by side. */
const places = /^(?:path|query|body)\.|^selection\.filter\.|^action\./;

function optionOf(field: string, names: OptionNames): string {
  for (let rest = field; ; rest = rest.replace(places, "")) {
    const parts = rest.split(".");
    for (let length = parts.length; length > 0; length -= 1) {
      const name = names[parts.slice(0, length).join(".")];
      if (name !== undefined) return [name, ...parts.slice(length)].join(".");
    }
    if (places.test(rest)) continue;
    const [first = "", ...inner] = parts;
    return [`--${kebab(first)}`, ...inner].join(".");
  }
}

/** `expectedSeq` → `expected-seq`, `Idempotency-Key` → `idempotency-key`. */
const kebab = (name: string): string => name.replaceAll(/([a-z])([A-Z])/g, "$1-$2").toLowerCase();
