/**
 * The one text of a chart: order written down where sorting keys would lose it, then RFC 8785. Its SHA-256 names a version.
 *
 * Holds: reading the text back, by any JSON parser that keeps key order or (as JavaScript) moves digit-like keys to the
 *        front, gives the same document order; canonicalChart(JSON.parse(canonicalChart(c))) is canonicalChart(c).
 */
import { canonicalJson, sha256Hex } from "@/lib/base/canonical";
import type { Json } from "@/lib/base/json";
import type { Chart, OneOrMany, StateNode, Transition, TransitionObject } from "./document";
import { inDocumentOrder, listOf } from "./machine";

export function canonicalChart(chart: Chart): string {
  return canonicalJson(withOrder(chart) as unknown as Json);
}

/** SHA-256, lower-case hex. */
export function chartHash(chart: Chart): string {
  return sha256Hex(canonicalChart(chart));
}

/** The same chart with `order` where it is needed, and nowhere else. */
function withOrder<T extends StateNode>(node: T): T {
  const made: T = { ...node };
  if (node.states !== undefined) {
    const states = inDocumentOrder(Object.entries(node.states), ([, child]) => child.order);
    const needed = !survives(states.map(([key]) => key));
    made.states = record(
      states.map(([key, child], index) => {
        const { order: _order, ...rest } = withOrder(child);
        return [key, needed ? { ...rest, order: index } : rest];
      }),
    );
  }
  if (node.on !== undefined) made.on = keyed(node.on);
  if (node.after !== undefined) made.after = keyed(node.after);
  if (node.always !== undefined) made.always = listed(node.always);
  if (node.onDone !== undefined) made.onDone = listed(node.onDone);
  if (node.invoke !== undefined) {
    const invokes = listOf(node.invoke).map((invoke) => {
      const one = { ...invoke };
      for (const field of ["onDone", "onError", "onEvent"] as const) {
        const written = invoke[field];
        if (written !== undefined) one[field] = listed(written);
      }
      return one;
    });
    made.invoke = Array.isArray(node.invoke) ? invokes : (invokes[0] as (typeof invokes)[number]);
  }
  return made;
}

interface Placed {
  key: string;
  transition: Transition;
}

/** Transitions under keys: their order among all keys of the map. */
function keyed(map: Record<string, OneOrMany<Transition>>): Record<string, OneOrMany<Transition>> {
  const parsed = Object.entries(map).flatMap(([key, written]) =>
    listOf(written).map((transition): Placed => ({ key, transition })),
  );
  const ordered = inDocumentOrder(parsed, ({ transition }) => orderOf(transition));
  const keys = ordered.map(({ key }) => key);
  // Without `order` a parser sees the keys one after the other, each with all its transitions.
  const runs = keys.filter((key, index) => key !== keys[index - 1]);
  const needed = new Set(runs).size !== runs.length || !survives(runs);
  const lists = new Map<string, Transition[]>(Object.keys(map).map((key) => [key, []]));
  ordered.forEach(({ key, transition }, index) => {
    lists.get(key)?.push(needed ? placed(transition, index) : bare(transition));
  });
  return record(
    [...lists].map(([key, list]) => [
      key,
      Array.isArray(map[key]) || list.length !== 1 ? list : (list[0] as Transition),
    ]),
  );
}

/** An array keeps its order by itself: it is only put into it. */
function listed(written: OneOrMany<Transition>): OneOrMany<Transition> {
  if (!Array.isArray(written)) return bare(written);
  return inDocumentOrder(written, orderOf).map(bare);
}

const orderOf = (transition: Transition): number | undefined =>
  typeof transition === "string" ? undefined : transition.order;

function bare(transition: Transition): Transition {
  if (typeof transition === "string") return transition;
  const { order: _order, ...rest } = transition;
  return rest;
}

function placed(transition: Transition, order: number): TransitionObject {
  return typeof transition === "string" ? { target: transition, order } : { ...transition, order };
}

/** Whether sorting the keys keeps this order, both for a reader of the text and for JavaScript's. */
function survives(keys: readonly string[]): boolean {
  const sorted = [...keys].sort();
  const isIndex = (key: string): boolean => /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 4294967295;
  const byJavaScript = [
    ...sorted.filter(isIndex).sort((a, b) => Number(a) - Number(b)),
    ...sorted.filter((key) => !isIndex(key)),
  ];
  return keys.every((key, index) => key === sorted[index] && key === byJavaScript[index]);
}

const record = <T>(entries: readonly (readonly [string, T])[]): Record<string, T> =>
  Object.fromEntries(entries);
