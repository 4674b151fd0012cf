/**
 * <send>, <invoke> and what they share: payloads by namelist, param and content.
 */
import type { Delay, Invoke, SendSpec, Text, Value } from "@/lib/statechart/document";
import { parseDelay } from "@/lib/statechart/delay";
import { celString, literalValue } from "../literal";
import { inlineData } from "./content";
import type { ExpressionPlace } from "./expressions";
import type { XmlElement } from "./read-xml";
import { attribute, childrenNamed, words, type Reading } from "./reading";

/** Names of SCXML itself, of the processor for messages and of child documents. */
const scxmlTypes = new Set([
  "scxml",
  "http://www.w3.org/TR/scxml",
  "http://www.w3.org/TR/scxml/#SCXMLEventProcessor",
]);
/** The same as a CEL list, with and without a trailing slash. */
const scxmlTypesCel = `[${[...scxmlTypes]
  .flatMap((type) => [type, `${type}/`])
  .map(celString)
  .join(", ")}]`;
const isScxmlType = (type: string): boolean => scxmlTypes.has(type.replace(/\/$/, ""));

export function readSend(reading: Reading, element: XmlElement, at: ExpressionPlace): SendSpec {
  const send: SendSpec = { type: textOf(reading, element, "event", "eventexpr", at) ?? "" };
  const to = textOf(reading, element, "target", "targetexpr", at);
  if (to !== undefined && to !== "") send.to = to;
  const type = textOf(reading, element, "type", "typeexpr", at);
  if (typeof type === "string" && !isScxmlType(type)) {
    // No such address: the send fails when it is reached, as SCXML asks of an unsupported type.
    send.to = `unsupported-type:${type}`;
    reading.reports.lose(
      `<send type="${type}"> has no counterpart: it fails when it is reached.`,
      element.at,
    );
  } else if (typeof type === "object") {
    send.to = { cel: `${type.cel} in ${scxmlTypesCel} ? ${celOf(to)} : 'unsupported-type:' + ${type.cel}` };
  }
  const data = readPayload(reading, element, at);
  if (data !== undefined) send.data = data;
  const delay = readDelay(reading, element, at);
  if (delay !== undefined) send.delay = delay;
  const id = attribute(element, "id");
  if (id !== null) send.id = id;
  const idLocation = attribute(element, "idlocation");
  if (idLocation !== null) send.idLocation = idLocation.trim();
  return send;
}

export function readInvoke(reading: Reading, element: XmlElement): Invoke {
  const at = element.at;
  const { reports } = reading;
  const type = textOf(reading, element, "type", "typeexpr", at);
  const invoke: Invoke = { src: "chart" };
  const id = attribute(element, "id");
  if (id !== null) invoke.id = id;
  const idLocation = attribute(element, "idlocation");
  if (idLocation !== null) invoke.idLocation = idLocation.trim();
  const params = readParams(reading, element, at);
  const input: Record<string, Value> = {};
  const source = textOf(reading, element, "src", "srcexpr", at);
  const [content] = childrenNamed(reading, element, "content");
  const inline = content === undefined ? undefined : contentValue(reading, content, at);
  if (inline !== undefined) input.source = inline;
  else if (typeof source === "string") {
    const text = reading.load(source);
    if (text === null) input.url = celString(source);
    else input.source = celString(text);
  } else if (source !== undefined) input.url = source.cel;
  if (params !== undefined) input.params = params;
  if (typeof type === "object") {
    // Known when it is reached: another type fails there, as SCXML asks of one that is not supported.
    const refusal = `{}['only child charts can be invoked, not the type ' + string(${type.cel})]`;
    input.type = `${type.cel} in ${scxmlTypesCel} ? 'scxml' : ${refusal}`;
  } else if (type !== undefined && !isScxmlType(type)) {
    invoke.src = reports.placeholder(type);
    reports.lose(
      `<invoke type="${type}"> stands as a placeholder: only child charts have a counterpart.`,
      at,
    );
  }
  if (Object.keys(input).length > 0) invoke.input = input;
  if (attribute(element, "autoforward") === "true") invoke.autoforward = true;
  return invoke;
}

/** Names that an empty <finalize> copies from the answer (SCXML 6.5.2). */
export function finalizedNames(reading: Reading, element: XmlElement): [name: string, location: string][] {
  const params = childrenNamed(reading, element, "param").flatMap((param): [string, string][] => {
    const location = attribute(param, "location")?.trim();
    return location === undefined ? [] : [[attribute(param, "name") ?? "", location]];
  });
  return [...words(attribute(element, "namelist")).map((name): [string, string] => [name, name]), ...params];
}

/** <content>, or <param>s and namelist as a map; undefined for none. */
export function readPayload(reading: Reading, element: XmlElement, at: ExpressionPlace): Value | undefined {
  const [content] = childrenNamed(reading, element, "content");
  return content === undefined ? readParams(reading, element, at) : contentValue(reading, content, at);
}

function contentValue(reading: Reading, content: XmlElement, at: ExpressionPlace): Value | undefined {
  const expr = attribute(content, "expr");
  if (expr !== null) return reading.expressions.value(expr, { ...at, ...content.at });
  const data = inlineData(content);
  return data === undefined ? undefined : literalValue(data);
}

function readParams(reading: Reading, element: XmlElement, at: ExpressionPlace): Value | undefined {
  const data: Record<string, Value> = {};
  for (const name of words(attribute(element, "namelist")))
    data[name] = reading.expressions.atLocation(name, at);
  for (const param of childrenNamed(reading, element, "param")) {
    const name = attribute(param, "name") ?? "";
    if (name === "" || name === "__proto__" || name === "placeholder") {
      reading.reports.lose(`<param name="${name}"> cannot be a field's name and was left out.`, param.at);
      continue;
    }
    const expr = attribute(param, "expr");
    const location = attribute(param, "location");
    const place = { ...at, ...param.at };
    data[name] =
      expr !== null
        ? reading.expressions.value(expr, place)
        : location !== null
          ? reading.expressions.atLocation(location, place)
          : null;
  }
  return Object.keys(data).length === 0 ? undefined : data;
}

/** A literal attribute, else the computed one beside it. */
export function textOf(
  reading: Reading,
  element: XmlElement,
  literal: string,
  computed: string,
  at: ExpressionPlace,
): Text | undefined {
  const text = attribute(element, literal);
  if (text !== null) return text.trim();
  const expr = attribute(element, computed);
  return expr === null ? undefined : reading.expressions.computedText(expr, { ...at, ...element.at });
}

function readDelay(reading: Reading, element: XmlElement, at: ExpressionPlace): Delay | undefined {
  const delay = textOf(reading, element, "delay", "delayexpr", at);
  if (delay === undefined || delay === "") return undefined;
  if (typeof delay !== "string") return delay.cel;
  // A duration we cannot read fails when it is reached: a CEL text that says so.
  return parseDelay(delay) === null ? `not a duration: ${delay}` : delay;
}

const celOf = (text: Text | undefined): string =>
  text === undefined || text === ""
    ? "'#_scxml_' + _sessionid"
    : typeof text === "string"
      ? celString(text)
      : `(${text.cel})`;
