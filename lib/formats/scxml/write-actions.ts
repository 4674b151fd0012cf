/**
 * A chart's actions, guards and values as SCXML's executable content with CEL expressions.
 *
 * Holds: every action comes with what our reader makes of its plain elements (`read`); where that is not the action
 *        itself, `ls:action` keeps it whole, so that reading back is exact by construction.
 */
import { canonicalJson } from "@/lib/base/canonical";
import type { Json } from "@/lib/base/json";
import { parseDelay } from "@/lib/statechart/delay";
import type { Action, Actions, Chart, Delay, Guard, SendSpec, Text, Value } from "@/lib/statechart/document";
import { listOf } from "@/lib/statechart/machine";
import { celString } from "../literal";
import type { Losses } from "../losses";
import { xmlElement, xmlSafe, type XmlNode } from "./write-xml";

/** Named guards, actions and delays that name each other are followed this far. */
const namesDepthMax = 20;

interface Written<T> {
  nodes: XmlNode[];
  /** What reading the nodes back gives. */
  read: T;
}

export const same = (a: unknown, b: unknown): boolean =>
  canonicalJson(a as Json) === canonicalJson(b as Json);
export const asJson = (value: unknown): string => canonicalJson(value as Json);

export class ActionWriter {
  constructor(
    private readonly chart: Chart,
    private readonly losses: Losses,
  ) {}

  /** A block's content, and the mark for `ls:actions` where it is not a filled list. */
  block(actions: Actions | undefined, state: string): { nodes: XmlNode[]; shape: string | undefined } {
    const list = listOf<Action>(actions);
    const shape =
      actions === undefined
        ? undefined
        : !Array.isArray(actions)
          ? "one"
          : list.length === 0
            ? "none"
            : undefined;
    return { nodes: list.flatMap((action) => this.action(action, state).nodes), shape };
  }

  /** One element that reads back as `action`. */
  action(action: Action, state: string, depth = 0): Written<Action> {
    const { nodes, read } = this.plain(action, state, depth);
    if (nodes.length === 1 && read !== null && same(read, action)) return { nodes, read };
    const [only, ...more] = nodes.map(withoutOwn);
    const holder = only !== undefined && more.length === 0 && only.name !== "elseif" ? only : group(nodes);
    holder.attributes.push(["ls:action", asJson(action)]);
    return { nodes: [holder], read: action };
  }

  guard(guard: Guard, state: string): string {
    const cel = this.guardCel(guard, state, 0);
    if (cel !== null) return xmlSafe(cel).trim();
    this.losses.add("a guard with parameters or without an implementation is `false` in other tools", state);
    return "false";
  }

  /** A value as one CEL expression. */
  expression(value: Value): string {
    return xmlSafe(typeof value === "string" ? value : celOf(value)).trim();
  }

  /** Children and read-back of a payload: `<content>` or `<param>`s. */
  payload(value: Value): Written<Value> {
    if (typeof value === "string") {
      const expr = this.expression(value);
      return { nodes: [xmlElement("content", { expr })], read: expr };
    }
    if (isPlainData(value))
      return { nodes: [xmlElement("content", {}, [JSON.stringify(value)])], read: value };
    const fields =
      typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
    const usable = fields.every(([name]) => name !== "" && name !== "placeholder" && name === xmlSafe(name));
    if (fields.length === 0 || !usable) {
      const expr = this.expression(value);
      return { nodes: [xmlElement("content", { expr })], read: expr };
    }
    const read = fields.map(([name, item]) => [name, this.expression(item)] as const);
    return {
      nodes: read.map(([name, expr]) => xmlElement("param", { name, expr })),
      read: Object.fromEntries(read),
    };
  }

  /** `delay` or `delayexpr`, and what they read back as. */
  delay(
    delay: Delay,
    state: string,
    depth = 0,
  ): { attributes: Record<string, string>; read: Delay | undefined } {
    if (typeof delay === "number") return { attributes: { delay: `${delay}ms` }, read: `${delay}ms` };
    if (typeof delay === "object") {
      this.losses.add(
        `the delay \`${delay.placeholder}\` has no implementation: other tools do not wait`,
        state,
      );
      return { attributes: {}, read: undefined };
    }
    const named = this.chart.delays !== undefined && Object.hasOwn(this.chart.delays, delay);
    if (named && depth < namesDepthMax) return this.delay(this.chart.delays?.[delay] ?? 0, state, depth + 1);
    const ms = parseDelay(delay);
    if (ms === null) return { attributes: { delayexpr: xmlSafe(delay) }, read: xmlSafe(delay).trim() };
    // CSS2 times are all that SCXML knows; other durations are written out in ms.
    const css = /^\d*\.?\d+(?:s|ms)$/.test(delay) ? delay : `${ms}ms`;
    return { attributes: { delay: css }, read: css };
  }

  private plain(action: Action, state: string, depth: number): Written<Action | null> {
    if (typeof action === "string") return this.named(action, state, depth);
    if ("type" in action) {
      if (action.params === undefined) return this.named(action.type, state, depth);
      this.losses.add(`the action \`${action.type}\` with parameters does nothing in other tools`, state);
      return { nodes: [], read: null };
    }
    if ("assign" in action) return this.assign(action.assign, state);
    if ("raise" in action) {
      const { type, data, delay, id } = action.raise;
      if (typeof type === "string" && data === undefined && delay === undefined && id === undefined) {
        const event = xmlSafe(type).trim();
        return { nodes: [xmlElement("raise", { event })], read: { raise: { type: event } } };
      }
      const to = delay === undefined ? { to: "#_internal" } : {};
      return this.send({ ...action.raise, ...to }, state);
    }
    if ("send" in action) return this.send(action.send, state);
    if ("cancel" in action) {
      const { attributes, read } = text(action.cancel, "sendid", "sendidexpr");
      return { nodes: [xmlElement("cancel", attributes)], read: { cancel: read } };
    }
    if ("log" in action) return this.log(action.log, action.label);
    if ("if" in action) return this.branches(action, state, depth);
    if ("foreach" in action) {
      const { in: array, item, index, do: body } = action.foreach;
      const inner = listOf<Action>(body).map((one) => this.action(one, state, depth + 1));
      const expr = this.expression(array);
      const names = {
        item: xmlSafe(item).trim(),
        ...(index === undefined ? {} : { index: xmlSafe(index).trim() }),
      };
      return {
        nodes: [
          xmlElement(
            "foreach",
            { array: expr, ...names },
            inner.flatMap(({ nodes }) => nodes),
          ),
        ],
        read: { foreach: { in: expr, ...names, do: inner.map(({ read }) => read) } },
      };
    }
    if ("block" in action)
      return {
        nodes: [
          group(listOf<Action>(action.block).flatMap((one) => this.action(one, state, depth + 1).nodes)),
        ],
        read: null,
      };
    if ("emit" in action) return this.unknown("emit", wordOf(action.emit.type), state);
    if ("compensate" in action) return this.unknown("compensate", "", state);
    return this.unknown("placeholder", action.placeholder, state);
  }

  /** What has no counterpart: other tools log that it would have happened here. */
  private unknown(kind: string, name: string, state: string): Written<null> {
    const label = `${kind} ${name}`.trim();
    this.losses.add(`\`${label}\` is only logged by other tools`, state);
    return { nodes: [xmlElement("log", { label: xmlSafe(label) })], read: null };
  }

  private named(name: string, state: string, depth: number): Written<null> {
    const { actions } = this.chart;
    if (actions === undefined || !Object.hasOwn(actions, name) || depth >= namesDepthMax)
      return this.unknown("action", name, state);
    const inner = listOf<Action>(actions[name]).flatMap((one) => this.action(one, state, depth + 1).nodes);
    return { nodes: [group(inner)], read: null };
  }

  private assign(assign: Record<string, Value>, state: string): Written<Action | null> {
    const entries = Object.entries(assign);
    const done: string[] = [];
    for (const [location, value] of entries) {
      const expr = this.expression(value);
      if (done.some((root) => expr.includes(`context.${root}`)))
        this.losses.add(
          "an assignment of several values at once is made one after the other by other tools",
          state,
        );
      done.push(/^[^.[]*/.exec(location)?.[0] ?? location);
    }
    const nodes = entries.map(([location, value]) =>
      isPlainData(value)
        ? xmlElement("assign", { location: xmlSafe(location) }, [JSON.stringify(value)])
        : xmlElement("assign", { location: xmlSafe(location), expr: this.expression(value) }),
    );
    const [first] = entries;
    if (first === undefined || entries.length > 1) return { nodes: [group(nodes)], read: null };
    const [location, value] = first;
    const read = isPlainData(value) ? value : this.expression(value);
    return { nodes, read: { assign: { [xmlSafe(location).trim()]: read } } };
  }

  private log(value: Value, label: string | undefined): Written<Action> {
    const expr = value === null ? undefined : this.expression(value);
    const named = label === undefined ? {} : { label: xmlSafe(label) };
    return {
      nodes: [xmlElement("log", { ...named, expr })],
      read: { log: expr === undefined || expr === "" ? null : expr, ...named },
    };
  }

  private send(send: SendSpec, state: string): Written<Action> {
    const type = text(send.type, "event", "eventexpr");
    const to = send.to === undefined ? null : text(send.to, "target", "targetexpr");
    const payload = send.data === undefined ? null : this.payload(send.data);
    const delay = send.delay === undefined ? null : this.delay(send.delay, state);
    const id = typeof send.id === "string" ? xmlSafe(send.id) : undefined;
    const idlocation = send.idLocation === undefined ? undefined : xmlSafe(send.idLocation).trim();
    if (typeof send.to === "string" && /^(?:instance|unsupported-type):/.test(send.to))
      this.losses.add(`the address \`${send.to}\` is Lockstep's own`, state);
    const read: SendSpec = {
      type: type.read,
      ...(to === null ? {} : { to: to.read }),
      ...(payload === null ? {} : { data: payload.read }),
      ...(delay?.read === undefined ? {} : { delay: delay.read }),
      ...(id === undefined ? {} : { id }),
      ...(idlocation === undefined ? {} : { idLocation: idlocation }),
    };
    const attributes = { ...type.attributes, ...to?.attributes, ...delay?.attributes, id, idlocation };
    return { nodes: [xmlElement("send", attributes, payload?.nodes ?? [])], read: { send: read } };
  }

  /** <if> with <elseif> for a lone `if` in `else`, as the reader makes of them. */
  private branches(action: Extract<Action, { if: Guard }>, state: string, depth: number): Written<Action> {
    const cond = this.guard(action.if, state);
    const then = listOf<Action>(action.then).map((one) => this.action(one, state, depth + 1));
    const nodes = then.flatMap((one) => one.nodes);
    const read = { if: cond, then: then.map((one) => one.read) };
    const { else: otherwise } = action;
    if (otherwise === undefined) return { nodes: [xmlElement("if", { cond }, nodes)], read };
    if (!Array.isArray(otherwise) && typeof otherwise === "object" && "if" in otherwise) {
      const rest = this.branches(otherwise, state, depth);
      const [next] = rest.nodes;
      if (next !== undefined && same(rest.read, otherwise)) {
        const separator = { ...next, name: "elseif", children: [] };
        return {
          nodes: [xmlElement("if", { cond }, [...nodes, separator, ...next.children])],
          read: { ...read, else: rest.read },
        };
      }
    }
    const last = listOf<Action>(otherwise).map((one) => this.action(one, state, depth + 1));
    return {
      nodes: [
        xmlElement("if", { cond }, [...nodes, xmlElement("else", {}), ...last.flatMap((one) => one.nodes)]),
      ],
      read: { ...read, else: last.map((one) => one.read) },
    };
  }

  private guardCel(guard: Guard, state: string, depth: number): string | null {
    if (depth > namesDepthMax) return null;
    const { guards = {} } = this.chart;
    const several = (parts: Guard[], operator: string, none: string): string | null => {
      const texts = parts.map((part) => this.guardCel(part, state, depth + 1));
      if (texts.some((one) => one === null)) return null;
      return texts.length === 0 ? none : texts.map((one) => `(${one})`).join(operator);
    };
    if (typeof guard === "string") {
      const named = Object.hasOwn(guards, guard) ? guards[guard] : undefined;
      if (named !== undefined) return this.guardCel(named, state, depth + 1);
      for (const name of Object.keys(guards))
        if (guard.split(/\W+/).includes(name))
          this.losses.add(
            `the named guard \`${name}\` inside an expression is unknown to other tools`,
            state,
          );
      return guard;
    }
    if ("type" in guard)
      return guard.params === undefined ? this.guardCel(guard.type, state, depth + 1) : null;
    if ("and" in guard) return several(guard.and, " && ", "true");
    if ("or" in guard) return several(guard.or, " || ", "false");
    if ("in" in guard) return `In(${celString(guard.in)})`;
    if ("not" in guard) {
      const inner = this.guardCel(guard.not, state, depth + 1);
      return inner === null ? null : `!(${inner})`;
    }
    return null;
  }
}

/** Several elements as one: SCXML has no other bracket. */
const group = (nodes: XmlNode[]): XmlNode => xmlElement("if", { cond: "true" }, nodes.map(withoutOwn));

/** Elements whose whole is kept further out need no marks of their own. */
function withoutOwn(node: XmlNode): XmlNode {
  return {
    name: node.name,
    attributes: node.attributes.filter(([name]) => !name.startsWith("ls:")),
    children: node.children.map((child) => (typeof child === "string" ? child : withoutOwn(child))),
  };
}

function text(
  value: Text,
  literal: string,
  computed: string,
): { attributes: Record<string, string>; read: Text } {
  if (typeof value === "string") {
    const safe = xmlSafe(value);
    return { attributes: { [literal]: safe }, read: safe.trim() };
  }
  const cel = xmlSafe(value.cel);
  return { attributes: { [computed]: cel }, read: { cel: cel.trim() } };
}

const wordOf = (value: Text): string => (typeof value === "string" ? value : value.cel);

/** JSON that reads as itself inside an element: no strings (they would be CEL), so no placeholders either. */
export function isPlainData(value: Value): boolean {
  if (typeof value === "string") return false;
  if (value === null || typeof value !== "object") return true;
  if (Array.isArray(value)) return value.every(isPlainData);
  return Object.values(value).every(isPlainData);
}

/** A value whose strings are CEL, as one CEL expression. */
function celOf(value: Value): string {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(celOf).join(", ")}]`;
  if (typeof value.placeholder === "string") return "null";
  return `{${Object.entries(value)
    .map(([key, item]) => `${celString(key)}: ${celOf(item)}`)
    .join(", ")}}`;
}
