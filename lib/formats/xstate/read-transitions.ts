/**
 * XState transitions: by event, by delay, and plain lists.
 *
 * Holds: of one state's descriptors, exact ones come before longer `.*` before shorter before `*`, as XState tries them
 *        (a chart tries them in the order written).
 */
import { isJsonObject, type Json } from "@/lib/base/json";
import type { Transition, TransitionObject } from "@/lib/statechart/document";
import { eventName } from "./event-names";
import { readActions, readAssign, readDelay } from "./read-actions";
import { readGuard } from "./read-guard";
import { nameOf, type Place } from "./place";
import { isText, listOf, type Reading } from "./reading";

type ByKey = Record<string, Transition | Transition[]>;

export const readTransitions = { byEvent, byDelay, list };

function byEvent(reading: Reading, value: Json | undefined, place: Place): ByKey | undefined {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) return void wrong(reading, place, "on", "an object of transitions by event");
  const found: [descriptor: string, transitions: Transition | Transition[]][] = [];
  for (const [written, item] of Object.entries(value)) {
    const descriptor = eventName(written, reading.names);
    if (descriptor === null) {
      reading.reports.lose(
        `\`${written}\` is an event of XState's own without a counterpart; its transitions were left out.`,
        {
          state: place.state,
        },
      );
      continue;
    }
    const transitions = list(reading, item, place, `on/${written}`);
    if (transitions !== undefined) found.push([descriptor, transitions]);
  }
  found.sort(([a], [b]) => rank(a) - rank(b));
  const result: ByKey = {};
  for (const [descriptor, transitions] of found) {
    const before = Object.hasOwn(result, descriptor) ? result[descriptor] : undefined;
    result[descriptor] = before === undefined ? transitions : [...listOf(before), ...listOf(transitions)];
  }
  return Object.keys(result).length === 0 ? undefined : result;
}

/** Lower is tried earlier; exact descriptors never compete with each other. */
function rank(descriptor: string): number {
  if (descriptor === "*") return 1;
  return descriptor.endsWith(".*") ? -descriptor.length : -1e9;
}

function byDelay(reading: Reading, value: Json | undefined, place: Place): ByKey | undefined {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) return void wrong(reading, place, "after", "an object of transitions by delay");
  const result: ByKey = {};
  for (const [written, item] of Object.entries(value)) {
    const transitions = list(reading, item, place, `after/${written}`);
    if (transitions === undefined) continue;
    const delay = readDelay(reading, written);
    if (!isText(delay))
      reading.delays.set(written, typeof delay === "number" ? { placeholder: written } : delay);
    result[isText(delay) ? delay : written] = transitions;
  }
  return Object.keys(result).length === 0 ? undefined : result;
}

/** undefined when there is none. */
function list(
  reading: Reading,
  value: Json | undefined,
  place: Place,
  field: string,
): Transition | Transition[] | undefined {
  if (value === undefined) return undefined;
  // XState: an explicitly empty value forbids the event, like {}.
  if (value === null) return {};
  const items = listOf(value).map((item, index) => ({
    order: isJsonObject(item) && typeof item.order === "number" ? item.order : Infinity,
    transition: readTransition(reading, item, place, `${field}/${index}`),
  }));
  // Stately: a lower `order` is tried earlier, the rest in document order.
  if (items.some((item) => item.order !== Infinity))
    items.sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0));
  const transitions = items.flatMap((item) => item.transition ?? []);
  return transitions.length === 0 ? undefined : Array.isArray(value) ? transitions : transitions[0];
}

const transitionFields = new Set(
  "target guard cond actions reenter internal description meta order context".split(" "),
);

function readTransition(reading: Reading, value: Json, place: Place, field: string): Transition | undefined {
  if (value === null) return {};
  if (isText(value)) return reading.names.target(value, place);
  if (!isJsonObject(value)) return void wrong(reading, place, field, "a target or a transition object");
  const transition: TransitionObject = {};
  for (const key of Object.keys(value))
    if (!transitionFields.has(key))
      reading.reports.lose(`\`${key}\` of the transition at ${field} is unknown here and was left out.`, {
        state: place.state,
      });
  const target =
    value.target === undefined || value.target === null
      ? undefined
      : reading.names.targets(value.target, place);
  if (target !== undefined) transition.target = target;
  const guard = value.guard ?? value.cond;
  if (guard !== undefined && guard !== null) {
    const read = readGuard(reading, guard, place, `${field}/guard`);
    if (read !== undefined) transition.guard = read;
  }
  const actions = listOf(readActions(reading, value.actions, place, `${field}/actions`));
  if (isJsonObject(value.context)) actions.push(readAssign(reading, value.context));
  if (actions.length > 0) transition.actions = actions;
  if (typeof value.reenter === "boolean") transition.reenter = value.reenter;
  else if (typeof value.internal === "boolean") transition.reenter = !value.internal;
  if (isText(value.description)) transition.description = value.description;
  if (value.meta !== undefined) transition.meta = value.meta;
  return transition;
}

function wrong(reading: Reading, place: Place, field: string, want: string): void {
  reading.reports.error("bad-shape", `\`${field}\` of ${nameOf(place)} must be ${want}.`, {
    state: place.state,
    field,
  });
}
