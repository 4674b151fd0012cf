/**
 * What differs between two charts, by element: for a person who must choose between them.
 */
import { chartTree } from "@/lib/diagram/chart-tree";
import type { Chart } from "@/lib/statechart/document";

export interface Difference {
  kind: "state" | "transition" | "chart";
  /** State name, transition id, or field of the chart. */
  id: string;
  change: "added" | "removed" | "changed";
}

const chartFields = ["context", "guards", "actions", "delays", "settings", "schemas"] as const;

/** From `before` to `after`. */
export function differences(before: Chart, after: Chart): Difference[] {
  const found: Difference[] = [];
  const compare = (
    kind: Difference["kind"],
    a: ReadonlyMap<string, string>,
    b: ReadonlyMap<string, string>,
  ): void => {
    for (const [id, text] of a) {
      const other = b.get(id);
      if (other === undefined) found.push({ kind, id, change: "removed" });
      else if (other !== text) found.push({ kind, id, change: "changed" });
    }
    for (const id of b.keys()) if (!a.has(id)) found.push({ kind, id, change: "added" });
  };
  const [old, now] = [chartTree(before), chartTree(after)];
  compare("state", ownFields(old), ownFields(now));
  compare("transition", specs(old), specs(now));
  for (const field of chartFields) {
    if (JSON.stringify(before[field]) !== JSON.stringify(after[field])) {
      found.push({ kind: "chart", id: field, change: "changed" });
    }
  }
  return found;
}

/** A state without its children and transitions. */
const ownFields = (tree: ReturnType<typeof chartTree>): Map<string, string> =>
  new Map(
    tree.states.map(({ name, node }) => {
      const { type, initial, entry, exit, invoke, history, target, tags, output, description } = node;
      return [
        name,
        JSON.stringify([type, initial, entry, exit, invoke, history, target, tags, output, description]),
      ];
    }),
  );

const specs = (tree: ReturnType<typeof chartTree>): Map<string, string> =>
  new Map(tree.transitions.map(({ id, spec }) => [id, JSON.stringify(spec)]));
