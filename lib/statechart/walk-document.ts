/**
 * Everything in a chart that is evaluated, with its place: guards, values, texts, delays, locations, names used.
 */
import { isJsonObject, type Json } from "@/lib/base/json";
import type {
  Actions,
  Chart,
  Delay,
  Guard,
  Invoke,
  OneOrMany,
  StateNode,
  Text,
  Transition,
  Value,
} from "./document";
import { listOf, type Machine } from "./machine";

export type Part =
  | { kind: "cel"; text: string; expects: "bool" | "any" }
  | { kind: "guard-name"; name: string }
  | { kind: "action-name"; name: string }
  | { kind: "in"; name: string }
  | { kind: "delay"; text: string }
  /** `declares`: the place may be new (a loop's item). */
  | { kind: "location"; text: string; declares: boolean }
  | { kind: "send-target"; text: string }
  | { kind: "placeholder"; name: string; of: "guard" | "action" | "delay" | "value" | "invocation" };

type Visit = (part: Part, at: { state: string; field: string }) => void;

export function walkDocument(machine: Machine, visit: Visit): void {
  for (const state of machine.ordered) new Walker(machine.chart, state.name, visit).state(state.node);
  new Walker(machine.chart, "", visit).chart();
}

const join = (field: string, ...segments: (string | number)[]): string =>
  [field, ...segments.map((one) => String(one).replaceAll("~", "~0").replaceAll("/", "~1"))]
    .filter(Boolean)
    .join("/");

class Walker {
  constructor(
    private readonly document: Chart,
    private readonly name: string,
    private readonly visit: Visit,
  ) {}

  private tell(part: Part, field: string): void {
    this.visit(part, { state: this.name, field });
  }

  chart(): void {
    const { context, guards, actions, delays, settings } = this.document;
    for (const [root, value] of Object.entries(context ?? {})) {
      if (isJsonObject(value) && typeof value.cel === "string" && Object.keys(value).length === 1) {
        this.cel(value.cel, join("context", root));
      }
    }
    for (const [name, guard] of Object.entries(guards ?? {})) this.guard(guard, join("guards", name));
    for (const [name, list] of Object.entries(actions ?? {})) this.actions(list, join("actions", name));
    for (const [name, delay] of Object.entries(delays ?? {})) this.delay(delay, join("delays", name));
    for (const key of ["concurrencyKey", "businessKey"] as const) {
      const text = settings?.[key];
      if (text !== undefined) this.cel(text, join("settings", key));
    }
  }

  state(node: StateNode): void {
    this.actions(node.entry, "entry");
    this.actions(node.exit, "exit");
    if (node.output !== undefined) this.value(node.output, "output");
    for (const [root, value] of Object.entries(node.data ?? {})) this.value(value, join("data", root));
    for (const field of ["initial", "target"] as const) {
      const arrow = node[field];
      if (typeof arrow === "object" && !Array.isArray(arrow))
        this.actions(arrow.actions, join(field, "actions"));
    }
    for (const [descriptor, written] of Object.entries(node.on ?? {}))
      this.transitions(written, join("on", descriptor));
    for (const [delay, written] of Object.entries(node.after ?? {})) {
      this.delay(delay, join("after", delay));
      this.transitions(written, join("after", delay));
    }
    this.transitions(node.always, "always");
    this.transitions(node.onDone, "onDone");
    listOf(node.invoke).forEach((invoke, index) => this.invoke(invoke, join("invoke", index)));
  }

  private transitions(written: OneOrMany<Transition> | undefined, field: string): void {
    listOf(written).forEach((transition, index) => {
      if (typeof transition === "string") return;
      if (transition.guard !== undefined) this.guard(transition.guard, join(field, index, "guard"));
      this.actions(transition.actions, join(field, index, "actions"));
    });
  }

  private invoke(invoke: Invoke, field: string): void {
    if (typeof invoke.src !== "string") {
      this.tell({ kind: "placeholder", name: invoke.src.placeholder, of: "invocation" }, join(field, "src"));
    }
    if (invoke.input !== undefined) this.value(invoke.input, join(field, "input"));
    if (invoke.idLocation !== undefined) this.location(invoke.idLocation, join(field, "idLocation"));
    if (invoke.timeout !== undefined) this.delay(invoke.timeout, join(field, "timeout"));
    if (invoke.concurrencyKey !== undefined) this.cel(invoke.concurrencyKey, join(field, "concurrencyKey"));
    this.actions(invoke.finalize, join(field, "finalize"));
    for (const key of ["onDone", "onError", "onEvent"] as const)
      this.transitions(invoke[key], join(field, key));
    if (invoke.compensate !== undefined) this.invoke(invoke.compensate, join(field, "compensate"));
  }

  private guard(guard: Guard, field: string): void {
    if (typeof guard === "string") {
      const named = Object.hasOwn(this.document.guards ?? {}, guard);
      this.tell(
        named ? { kind: "guard-name", name: guard } : { kind: "cel", text: guard, expects: "bool" },
        field,
      );
    } else if ("placeholder" in guard)
      this.tell({ kind: "placeholder", name: guard.placeholder, of: "guard" }, field);
    else if ("type" in guard) {
      this.tell({ kind: "guard-name", name: guard.type }, field);
      if (guard.params !== undefined) this.value(guard.params, join(field, "params"));
    } else if ("in" in guard) this.tell({ kind: "in", name: guard.in }, field);
    else if ("not" in guard) this.guard(guard.not, join(field, "not"));
    else {
      const key = "and" in guard ? "and" : "or";
      const parts = "and" in guard ? guard.and : guard.or;
      parts.forEach((part, index) => this.guard(part, join(field, key, index)));
    }
  }

  private actions(actions: Actions | undefined, field: string): void {
    listOf(actions).forEach((action, index) => {
      const at = join(field, index);
      if (typeof action === "string") this.tell({ kind: "action-name", name: action }, at);
      else if ("placeholder" in action)
        this.tell({ kind: "placeholder", name: action.placeholder, of: "action" }, at);
      else if ("type" in action) {
        this.tell({ kind: "action-name", name: action.type }, at);
        if (action.params !== undefined) this.value(action.params, join(at, "params"));
      } else if ("assign" in action) {
        for (const [location, value] of Object.entries(action.assign)) {
          this.location(location, join(at, "assign", location));
          this.value(value, join(at, "assign", location));
        }
      } else if ("raise" in action) this.message(action.raise, join(at, "raise"));
      else if ("send" in action) {
        const { to, idLocation } = action.send;
        this.message(action.send, join(at, "send"));
        if (to !== undefined) {
          this.text(to, join(at, "send", "to"));
          if (typeof to === "string") this.tell({ kind: "send-target", text: to }, join(at, "send", "to"));
        }
        if (idLocation !== undefined) this.location(idLocation, join(at, "send", "idLocation"));
      } else if ("cancel" in action) this.text(action.cancel, join(at, "cancel"));
      else if ("emit" in action) this.message(action.emit, join(at, "emit"));
      else if ("log" in action) this.value(action.log, join(at, "log"));
      else if ("if" in action) {
        this.guard(action.if, join(at, "if"));
        this.actions(action.then, join(at, "then"));
        this.actions(action.else, join(at, "else"));
      } else if ("foreach" in action) {
        this.value(action.foreach.in, join(at, "foreach", "in"));
        this.location(action.foreach.item, join(at, "foreach", "item"), true);
        if (action.foreach.index !== undefined)
          this.location(action.foreach.index, join(at, "foreach", "index"), true);
        this.actions(action.foreach.do, join(at, "foreach", "do"));
      } else if ("block" in action) this.actions(action.block, join(at, "block"));
    });
  }

  private message(message: { type: Text; data?: Value; delay?: Delay; id?: Text }, field: string): void {
    this.text(message.type, join(field, "type"));
    if (message.data !== undefined) this.value(message.data, join(field, "data"));
    if (message.delay !== undefined) this.delay(message.delay, join(field, "delay"));
    if (message.id !== undefined) this.text(message.id, join(field, "id"));
  }

  private text(text: Text, field: string): void {
    if (typeof text !== "string") this.cel(text.cel, field);
  }

  private delay(delay: Delay, field: string): void {
    if (typeof delay === "string") this.tell({ kind: "delay", text: delay }, field);
    else if (typeof delay === "object")
      this.tell({ kind: "placeholder", name: delay.placeholder, of: "delay" }, field);
  }

  private value(value: Json, field: string): void {
    if (typeof value === "string") this.cel(value, field);
    else if (isJsonObject(value) && typeof value.placeholder === "string") {
      this.tell({ kind: "placeholder", name: value.placeholder, of: "value" }, field);
    } else if (Array.isArray(value)) value.forEach((item, index) => this.value(item, join(field, index)));
    else if (isJsonObject(value)) {
      for (const [key, item] of Object.entries(value)) this.value(item, join(field, key));
    }
  }

  private cel(text: string, field: string): void {
    this.tell({ kind: "cel", text, expects: "any" }, field);
  }

  private location(text: string, field: string, declares = false): void {
    this.tell({ kind: "location", text, declares }, field);
  }
}
