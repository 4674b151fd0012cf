/**
 * A label's filter as key and value in two fields, so that nobody has to know how a colon in a key is written.
 *
 * Holds: a whole `key:value` in either field alone is read as that.
 */
import { labelFilterOf, readLabelFilter } from "@/lib/base/label-filter";

export const labelPair = {
  first: "Key",
  read(text: string): [key: string, value: string] {
    const label = readLabelFilter(text);
    return label ? [label.key, label.value] : ["", text];
  },
  write(key: string, value: string): string {
    if (key === "") return value;
    return value === "" && key.includes(":") ? key : labelFilterOf(key, value);
  },
};
