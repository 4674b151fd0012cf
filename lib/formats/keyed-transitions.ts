/**
 * Transitions in the order a text has them, under the keys of a JavaScript object, which has an order of its own.
 */
import type { OneOrMany, Transition } from "@/lib/statechart/document";

export interface KeyedTransition {
  key: string;
  transition: Transition;
  /** Stays a list where it is the only one of its key. */
  isList?: boolean;
}

/** By key, with `order` where the object's keys would lose the text's order; undefined for none. */
export function keyedTransitions(
  found: readonly KeyedTransition[],
): Record<string, OneOrMany<Transition>> | undefined {
  if (found.length === 0) return undefined;
  const keys = [...new Set(found.map(({ key }) => key))];
  const parsed = Object.keys(Object.fromEntries(keys.map((key) => [key, true])));
  const asParsed = parsed.flatMap((key) => found.filter((one) => one.key === key));
  const orderLost = asParsed.some((one, index) => one !== found[index]);
  const placed = found.map((one, order): KeyedTransition => {
    if (!orderLost) return one;
    const { transition } = one;
    return {
      ...one,
      transition: typeof transition === "string" ? { target: transition, order } : { ...transition, order },
    };
  });
  return Object.fromEntries(
    keys.map((key) => [key, oneOrManyTransitions(placed.filter((one) => one.key === key)) ?? []]),
  );
}

export function oneOrManyTransitions(
  found: readonly Omit<KeyedTransition, "key">[],
): OneOrMany<Transition> | undefined {
  const [first] = found;
  if (first === undefined) return undefined;
  return found.length === 1 && first.isList !== true
    ? first.transition
    : found.map(({ transition }) => transition);
}
