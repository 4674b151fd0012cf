/**
 * What differs between two JSON values, path by path: the Diff tab's lines.
 *
 * Holds: at most `linesMax` lines, and it says when there are more; lists are compared place by place.
 */
import type { Json } from "@/lib/base/json";
import { isJsonObject } from "@/lib/base/json";

export interface DiffLine {
  /** Location as the chart writes it: `zone.eta`, `rows[2].qty`; "" is the whole. */
  path: string;
  /** Absent when it did not exist. */
  before?: Json;
  after?: Json;
}

const linesMax = 500;

export function diffJson(before: Json, after: Json): { lines: DiffLine[]; more: boolean } {
  const lines: DiffLine[] = [];
  let more = false;
  const add = (line: DiffLine): void => {
    if (lines.length < linesMax) lines.push(line);
    else more = true;
  };
  const visit = (path: string, a: Json, b: Json): void => {
    if (more || a === b) return;
    if (isJsonObject(a) && isJsonObject(b)) {
      for (const key of union(Object.keys(a), Object.keys(b))) {
        visitField(join(path, key), a[key], b[key]);
      }
    } else if (Array.isArray(a) && Array.isArray(b)) {
      for (let index = 0; index < Math.max(a.length, b.length); index++) {
        visitField(`${path}[${index}]`, a[index], b[index]);
      }
    } else add({ path, before: a, after: b });
  };
  const visitField = (path: string, a: Json | undefined, b: Json | undefined): void => {
    if (a === undefined && b === undefined) return;
    if (a === undefined) add({ path, ...(b === undefined ? {} : { after: b }) });
    else if (b === undefined) add({ path, before: a });
    else visit(path, a, b);
  };
  visit("", before, after);
  return { lines, more };
}

const plainKey = /^[A-Za-z_][A-Za-z0-9_]*$/;
const join = (path: string, key: string): string => {
  if (!plainKey.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
};
const union = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])];
