/**
 * <transition>s of a state, in document order, as `on` and `always`.
 *
 * Holds: document order survives descriptors that interleave or look like numbers (`order`); whether a transition
 *        re-enters its source is decided here, once, by SCXML's rule for `type`.
 */
import type { StateNode, Target, Transition, TransitionObject } from "@/lib/statechart/document";
import { readBlock } from "./executable";
import type { XmlElement } from "./read-xml";
import { attribute, childrenNamed, words, type Reading } from "./reading";

export function readTransitions(reading: Reading, state: XmlElement): Pick<StateNode, "on" | "always"> {
  const always: TransitionObject[] = [];
  const found: { descriptor: string; transition: TransitionObject }[] = [];
  for (const element of childrenNamed(reading, state, "transition")) {
    const event = attribute(element, "event");
    if (event === null) always.push(readTransition(reading, state, element, false));
    else {
      // Several descriptors are alternatives: each gets the transition, read once, as its own.
      const transition = readTransition(reading, state, element, true);
      for (const descriptor of new Set(words(event).map(descriptorOf)))
        found.push({ descriptor, transition: { ...transition } });
    }
  }
  const result: Pick<StateNode, "on" | "always"> = {};
  if (found.length > 0) result.on = byDescriptor(found);
  if (always.length > 0) result.always = always.length === 1 ? (always[0] ?? {}) : always;
  return result;
}

/** `#id` for each target named. */
export function targetsOf(text: string | null): Target | Target[] | undefined {
  const targets = words(text).map((id) => `#${id}`);
  return targets.length === 1 ? targets[0] : targets.length === 0 ? undefined : targets;
}

function readTransition(
  reading: Reading,
  state: XmlElement,
  element: XmlElement,
  hasEvent: boolean,
): TransitionObject {
  const transition: TransitionObject = {};
  const target = targetsOf(attribute(element, "target"));
  if (target !== undefined) transition.target = target;
  const cond = attribute(element, "cond");
  if (cond !== null)
    transition.guard = reading.expressions.guard(cond, { ...element.at, eventBound: hasEvent });
  const actions = readBlock(reading, element, hasEvent);
  if (actions.length > 0) transition.actions = actions;
  if (target !== undefined && reenters(reading, state, element)) transition.reenter = true;
  return transition;
}

/**
 * SCXML 3.13: a transition exits its source unless it is internal, the source compound and every target inside it. Where
 * a target lies outside, the source is exited either way and nothing needs saying; a history state says only when it is
 * reached what its target is.
 */
function reenters(reading: Reading, state: XmlElement, element: XmlElement): boolean {
  const ids = words(attribute(element, "target"));
  const own = reading.ids.idOf(state);
  const mayStay = (id: string): boolean =>
    id === own || reading.ids.isInside(id, state) || reading.ids.mayRestore(id, state);
  if (!ids.every(mayStay)) return false;
  const compound =
    state.name === "state" && childrenNamed(reading, state, "state", "parallel", "final").length > 0;
  const internal = attribute(element, "type") === "internal" && compound && !ids.includes(own);
  return !internal;
}

/** SCXML 3.12.1: `a`, `a.` and `a.*` all match `a` and `a.b`. */
function descriptorOf(word: string): string {
  const prefix = word.replace(/\.?\*?$/, "");
  return prefix === "" ? "*" : `${prefix}.*`;
}

function byDescriptor(
  found: { descriptor: string; transition: TransitionObject }[],
): Record<string, Transition | Transition[]> {
  const lists: Record<string, TransitionObject[]> = {};
  for (const { descriptor, transition } of found) (lists[descriptor] ??= []).push(transition);
  const asWritten = found.map(({ transition }) => transition);
  const asParsed = Object.values(lists).flat();
  const orderLost = asWritten.some((transition, index) => transition !== asParsed[index]);
  if (orderLost) asWritten.forEach((transition, index) => (transition.order = index));
  return Object.fromEntries(
    Object.entries(lists).map(([descriptor, list]) => [
      descriptor,
      list.length === 1 ? (list[0] ?? {}) : list,
    ]),
  );
}
