/**
 * Everything in a chart that is evaluated, with its place: guards, values, texts, delays, locations, names used.
 */
import { isJsonObject, type Json } from "@/lib/base/json";
import type {
  Action,
  Actions,
  Chart,
  Delay,
  Guard,
  Invoke,
  OneOrMany,
  StateNode,
  TaskDefaults,
  Text,
  Transition,
  Value,
} from "./document";
import { listOf, type Machine } from "./machine";
import { escapeSegment } from "./transition-id";

export type Part =
  | { kind: "cel"; text: string; expects: Expected }
  | { kind: "guard-name"; name: string }
  | { kind: "action-name"; name: string }
  | { kind: "in"; name: string }
  | { kind: "delay"; text: string }
  /** `declares`: the place may be new (a loop's item). */
  | { kind: "location"; text: string; declares: boolean }
  /** A write, told beside the parts of its place and value. */
  | { kind: "write"; location: string; value: Written }
  | { kind: "event"; descriptor: string }
  | { kind: "message"; type: string; toSelf: boolean }
  | { kind: "send-target"; text: string }
  | { kind: "retry"; value: Json }
  | { kind: "placeholder"; name: string; of: "guard" | "action" | "delay" | "value" | "invocation" };

export type Expected = "bool" | "text" | "key" | "list" | "any";

/** Where a written value comes from. */
export type Written = { value: Value } | { itemOf: Value } | { kind: "int" | "string" };

/** What is known of the event that an expression sees. */
export type EventSeen =
  /** Whatever came last. */
  | { by: "any" }
  /** There is none yet. */
  | { by: "none" }
  | { by: "on"; descriptor: string }
  | { by: "answer"; src: string; failed: boolean }
  | { by: "after" }
  | { by: "compensate" };
const any: EventSeen = { by: "any" };
const noEvent: EventSeen = { by: "none" };
const due: EventSeen = { by: "after" };

export interface Place {
  state: string;
  field: string;
}
export type Visit = (part: Part, at: Place, event: EventSeen) => void;

export function walkDocument(machine: Machine, visit: Visit): void {
  const walker = new Walker(machine.chart, visit);
  for (const state of machine.ordered) walker.state(state.name, state.node);
  walker.chart();
}

const join = (field: string, segment: string | number): string =>
  `${field}/${typeof segment === "number" ? segment : escapeSegment(segment)}`;

class Walker {
  private name = "";
  private event: EventSeen = any;

  constructor(
    private readonly document: Chart,
    private readonly visit: Visit,
  ) {}

  private tell(part: Part, field: string): void {
    this.visit(part, { state: this.name, field }, this.event);
  }

  private seeing(event: EventSeen, inside: () => void): void {
    const outer = this.event;
    this.event = event;
    inside();
    this.event = outer;
  }

  chart(): void {
    this.name = "";
    const { context, guards, actions, delays, tasks, settings } = this.document;
    this.seeing(noEvent, () => {
      for (const [root, value] of Object.entries(context ?? {})) {
        if (isJsonObject(value) && typeof value.cel === "string" && Object.keys(value).length === 1) {
          this.cel(value.cel, join("context", root));
        }
      }
      for (const key of ["concurrencyKey", "businessKey"] as const) {
        const text = settings?.[key];
        if (text !== undefined) this.cel(text, join("settings", key), "key");
      }
    });
    for (const [name, guard] of Object.entries(guards ?? {})) this.guard(guard, join("guards", name));
    for (const [name, list] of Object.entries(actions ?? {})) this.actions(list, join("actions", name));
    for (const [name, delay] of Object.entries(delays ?? {})) this.delay(delay, join("delays", name));
    for (const [name, task] of Object.entries(tasks ?? {})) this.invokeOptions(task, join("tasks", name));
    (settings?.index ?? []).forEach((location, index) => this.location(location, `settings/index/${index}`));
  }

  state(name: string, node: StateNode): void {
    this.name = name;
    this.actions(node.entry, "entry");
    this.actions(node.exit, "exit");
    if (node.output !== undefined) this.value(node.output, "output");
    if (node.data !== undefined) {
      for (const [root, value] of Object.entries(node.data)) {
        this.tell({ kind: "write", location: root, value: { value } }, join("data", root));
        this.value(value, join("data", root));
      }
    }
    for (const field of ["initial", "target"] as const) {
      const arrow = node[field];
      if (typeof arrow === "object" && !Array.isArray(arrow)) this.actions(arrow.actions, `${field}/actions`);
    }
    if (node.on !== undefined) {
      for (const [descriptor, written] of Object.entries(node.on)) {
        const field = join("on", descriptor);
        this.tell({ kind: "event", descriptor }, field);
        this.seeing({ by: "on", descriptor }, () => this.transitions(written, field));
      }
    }
    if (node.after !== undefined) {
      for (const [delay, written] of Object.entries(node.after)) {
        this.delay(delay, join("after", delay));
        this.seeing(due, () => this.transitions(written, join("after", delay)));
      }
    }
    this.transitions(node.always, "always");
    this.transitions(node.onDone, "onDone");
    if (node.invoke !== undefined)
      listOf(node.invoke).forEach((invoke, index) => this.invoke(invoke, `invoke/${index}`));
  }

  private transitions(written: OneOrMany<Transition> | undefined, field: string): void {
    if (written === undefined || typeof written === "string") return;
    listOf(written).forEach((transition, index) => {
      if (typeof transition === "string") return;
      if (transition.guard !== undefined) this.guard(transition.guard, `${field}/${index}/guard`);
      if (transition.actions !== undefined) this.actions(transition.actions, `${field}/${index}/actions`);
    });
  }

  private invoke(invoke: Invoke, field: string): void {
    const { src } = invoke;
    if (typeof src !== "string")
      this.tell({ kind: "placeholder", name: src.placeholder, of: "invocation" }, `${field}/src`);
    if (invoke.input !== undefined) this.value(invoke.input, `${field}/input`);
    if (invoke.idLocation !== undefined) this.idLocation(invoke.idLocation, `${field}/idLocation`);
    this.invokeOptions(invoke, field);
    this.actions(invoke.finalize, `${field}/finalize`);
    const name = typeof src === "string" ? src : "";
    this.seeing({ by: "answer", src: name, failed: false }, () =>
      this.transitions(invoke.onDone, `${field}/onDone`),
    );
    this.seeing({ by: "answer", src: name, failed: true }, () =>
      this.transitions(invoke.onError, `${field}/onError`),
    );
    this.transitions(invoke.onEvent, `${field}/onEvent`);
  }

  private invokeOptions(
    { retry, timeout, concurrencyKey, compensate }: Omit<TaskDefaults, "schemas">,
    field: string,
  ): void {
    if (retry !== undefined) {
      this.tell({ kind: "retry", value: retry }, `${field}/retry`);
      if (isJsonObject(retry)) {
        for (const key of ["delay", "delayMax", "within"]) {
          const delay = retry[key];
          if (typeof delay === "string") this.delay(delay, `${field}/retry/${key}`);
        }
      }
    }
    if (timeout !== undefined) this.delay(timeout, `${field}/timeout`);
    if (concurrencyKey !== undefined) this.cel(concurrencyKey, `${field}/concurrencyKey`, "key");
    if (compensate !== undefined)
      this.seeing({ by: "compensate" }, () => this.invoke(compensate, `${field}/compensate`));
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
      parts.forEach((part, index) => this.guard(part, `${field}/${key}/${index}`));
    }
  }

  private actions(actions: Actions | undefined, field: string): void {
    if (actions === undefined) return;
    listOf(actions).forEach((action, index) => this.action(action, `${field}/${index}`));
  }

  private action(action: Action, at: string): void {
    if (typeof action === "string") this.tell({ kind: "action-name", name: action }, at);
    else if ("placeholder" in action)
      this.tell({ kind: "placeholder", name: action.placeholder, of: "action" }, at);
    else if ("type" in action) {
      this.tell({ kind: "action-name", name: action.type }, at);
      if (action.params !== undefined) this.value(action.params, `${at}/params`);
    } else if ("assign" in action) {
      for (const [location, value] of Object.entries(action.assign)) {
        const field = join(`${at}/assign`, location);
        this.location(location, field);
        this.tell({ kind: "write", location, value: { value } }, field);
        this.value(value, field);
      }
    } else if ("raise" in action) {
      this.message(action.raise, `${at}/raise`, true);
    } else if ("send" in action) {
      const { to, idLocation } = action.send;
      this.message(action.send, `${at}/send`, to === undefined || to === "#_internal");
      if (to !== undefined) {
        this.text(to, `${at}/send/to`);
        if (typeof to === "string") this.tell({ kind: "send-target", text: to }, `${at}/send/to`);
      }
      if (idLocation !== undefined) this.idLocation(idLocation, `${at}/send/idLocation`);
    } else if ("cancel" in action) this.text(action.cancel, `${at}/cancel`);
    else if ("emit" in action) this.message(action.emit, `${at}/emit`, false);
    else if ("log" in action) this.value(action.log, `${at}/log`);
    else if ("if" in action) {
      this.guard(action.if, `${at}/if`);
      this.actions(action.then, `${at}/then`);
      this.actions(action.else, `${at}/else`);
    } else if ("foreach" in action) this.foreach(action.foreach, `${at}/foreach`);
    else if ("block" in action) this.actions(action.block, `${at}/block`);
  }

  private foreach(loop: Extract<Action, { foreach: unknown }>["foreach"], at: string): void {
    const { item, index } = loop;
    if (typeof loop.in === "string") this.cel(loop.in, `${at}/in`, "list");
    else this.value(loop.in, `${at}/in`);
    this.location(item, `${at}/item`, true);
    this.tell({ kind: "write", location: item, value: { itemOf: loop.in } }, `${at}/item`);
    if (index !== undefined) {
      this.location(index, `${at}/index`, true);
      this.tell({ kind: "write", location: index, value: { kind: "int" } }, `${at}/index`);
    }
    this.actions(loop.do, `${at}/do`);
  }

  private message(
    message: { type: Text; data?: Value; delay?: Delay; id?: Text },
    field: string,
    toSelf: boolean,
  ): void {
    const { type } = message;
    this.text(type, `${field}/type`);
    if (typeof type === "string") this.tell({ kind: "message", type, toSelf }, `${field}/type`);
    if (message.data !== undefined) this.value(message.data, `${field}/data`);
    if (message.delay !== undefined) this.delay(message.delay, `${field}/delay`);
    if (message.id !== undefined) this.text(message.id, `${field}/id`);
  }

  private text(text: Text, field: string): void {
    if (typeof text !== "string") this.cel(text.cel, field, "text");
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

  private cel(text: string, field: string, expects: Expected = "any"): void {
    this.tell({ kind: "cel", text, expects }, field);
  }

  private location(text: string, field: string, declares = false): void {
    this.tell({ kind: "location", text, declares }, field);
  }

  private idLocation(location: string, field: string): void {
    this.location(location, field);
    this.tell({ kind: "write", location, value: { kind: "string" } }, field);
  }
}
