/**
 * XState actions: built-in ones with JSON parameters become the chart's own, all other names placeholders.
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import type { Action, Actions, Delay, SendSpec, Text, Value } from "@/lib/statechart/document";
import { parseDelay } from "@/lib/statechart/delay";
import { eventName } from "./event-names";
import { nameOf, type Place } from "./place";
import { isText, listOf, type Reading } from "./reading";
import { codeText } from "./source-code";

export function readActions(
  reading: Reading,
  value: Json | undefined,
  place: Place,
  field: string,
): Actions | undefined {
  if (value === undefined) return undefined;
  const actions = listOf(value).flatMap(
    (item, index) => readAction(reading, item, place, `${field}/${index}`) ?? [],
  );
  return actions.length === 0 ? undefined : actions;
}

/** A delay as XState writes it: a number, a duration, or a name, which then stands as a placeholder. */
export function readDelay(reading: Reading, value: Json): Delay {
  if (typeof value === "number") return value;
  if (!isText(value)) return reading.reports.placeholder("delay", codeText(value) ?? JSON.stringify(value));
  const expression = reading.expressions.expression(value);
  if (expression !== null) return expression;
  if (parseDelay(value) === null && !reading.delays.has(value))
    reading.delays.set(value, reading.reports.placeholder(value));
  return value;
}

/** `assign` with the values of an XState assignment record. */
export function readAssign(reading: Reading, assignments: JsonObject): Action {
  const assign: Record<string, Value> = {};
  for (const [key, item] of Object.entries(assignments)) assign[key] = reading.expressions.value(item);
  return { assign };
}

function readAction(reading: Reading, value: Json, place: Place, field: string): Action | undefined {
  const code = codeText(value);
  if (code !== undefined) return reading.reports.placeholder("action", code);
  if (isText(value)) return named(reading, value);
  if (!isJsonObject(value) || !isText(value.type)) {
    reading.reports.error(
      "bad-shape",
      `The action at ${field} of ${nameOf(place)} must be a name or {type, params}.`,
      {
        state: place.state,
        field,
      },
    );
    return undefined;
  }
  const builtIn = /^(?:xstate|core)\./.test(value.type) ? readBuiltIn(reading, value, value.type) : undefined;
  if (builtIn !== undefined) return builtIn;
  const { type, params, ...rest } = value;
  const name = named(reading, type);
  if (params === undefined && Object.keys(rest).length === 0) return name;
  // Stately's profiles may put fields beside `params`; they are kept with the parameters.
  const all =
    Object.keys(rest).length === 0
      ? params
      : { ...(isJsonObject(params) ? params : { params: params ?? null }), ...rest };
  return { type: type, params: reading.expressions.value(all ?? null) };
}

function named(reading: Reading, name: string): string {
  if (!reading.actions.has(name)) reading.actions.set(name, reading.reports.placeholder(name));
  return name;
}

function readBuiltIn(reading: Reading, action: JsonObject, type: string): Action | undefined {
  const params = isJsonObject(action.params) ? action.params : {};
  const field = (name: string): Json | undefined => action[name] ?? params[name];
  switch (type.slice(type.indexOf(".") + 1)) {
    case "assign": {
      const assignments = field("assignments") ?? field("assignment");
      return isJsonObject(assignments) ? readAssign(reading, assignments) : undefined;
    }
    case "raise": {
      const event = readEvent(reading, field("event"));
      return event === undefined ? undefined : { raise: { ...event, ...timing(reading, field) } };
    }
    case "sendTo":
    case "sendParent": {
      const event = readEvent(reading, field("event"));
      const to = type.endsWith("Parent")
        ? "#_parent"
        : recipient(reading, field("actorRef") ?? field("targetId") ?? field("to"));
      if (event === undefined || to === undefined) return undefined;
      const send: SendSpec = { to, ...event, ...timing(reading, field) };
      return { send };
    }
    case "emit": {
      const event = readEvent(reading, field("event"));
      return event === undefined ? undefined : { emit: event };
    }
    case "log": {
      const label = field("label");
      const message = field("message") ?? field("value") ?? null;
      return { log: reading.expressions.value(message), ...(isText(label) ? { label } : {}) };
    }
    case "cancel": {
      const id = field("sendId") ?? field("id");
      return isText(id) ? { cancel: id } : undefined;
    }
    default:
      return undefined;
  }
}

/** `{type, …fields}` as type and data; undefined when the event is computed by something a chart cannot hold. */
function readEvent(reading: Reading, value: Json | undefined): { type: Text; data?: Value } | undefined {
  const { type, ...fields } = isText(value) ? { type: value } : isJsonObject(value) ? value : { type: null };
  if (!isText(type) || reading.expressions.isExpression(type)) return undefined;
  const name = eventName(type, reading.names) ?? type;
  return Object.keys(fields).length === 0
    ? { type: name }
    : { type: name, data: reading.expressions.value(fields) };
}

function timing(reading: Reading, field: (name: string) => Json | undefined): { delay?: Delay; id?: Text } {
  const delay = field("delay");
  const id = field("id");
  return {
    ...(delay === undefined || delay === null ? {} : { delay: readDelay(reading, delay) }),
    ...(isText(id) ? { id } : {}),
  };
}

function recipient(reading: Reading, actor: Json | undefined): Text | undefined {
  if (!isText(actor) || reading.expressions.isExpression(actor)) return undefined;
  return actor.startsWith("#_") ? actor : `#_${actor}`;
}
