/**
 * A chart as a TypeScript module: a machine of XState 5, set up with guards and actions that evaluate the chart's CEL.
 *
 * The module needs xstate and, for CEL, this package's `lockstep/cel` (cel-runtime.ts): the same evaluator, so that a
 * guard decides as it does here. Named guards keep their names; named actions are put where they are used.
 *
 * Holds: run by XState the machine moves as the chart does, as far as no loss says otherwise; nothing of the chart becomes
 *        code: texts are string literals.
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import { initialTargets, many, resolveInside, type TreeState } from "@/lib/diagram/chart-tree";
import { canonicalChart } from "@/lib/statechart/canonical-chart";
import { parseExpression } from "@/lib/statechart/cel/check-expression";
import { environmentWith } from "@/lib/statechart/cel/environment";
import { children, type CelNode } from "@/lib/statechart/cel/prepare";
import { parseDelay } from "@/lib/statechart/delay";
import type { Action, Actions, Chart, Delay, Guard, StateNode, Text, Value } from "@/lib/statechart/document";
import type { Loss } from "../import-result";
import { XStateWriter } from "./write-xstate";

export function writeModule(chart: Chart): { text: string; losses: Loss[] } {
  const writer = new ModuleWriter(JSON.parse(canonicalChart(chart)) as Chart);
  return { text: writer.module(), losses: writer.losses.list };
}

/** Names that name each other are followed this far. */
const namesDepthMax = 20;
/** Pieces of code among the document's JSON: objects made here alone, so that no text of a chart's can pass for one. */
const pieces = new WeakMap<JsonObject, string>();
function code(text: string): JsonObject {
  const piece = {};
  pieces.set(piece, text);
  return piece;
}

class ModuleWriter extends XStateWriter {
  private readonly imports = new Set<string>(["setup"]);
  private readonly actors = new Set<string>();
  private readonly open = { guards: new Set<string>(), actions: new Set<string>() };
  private readonly delays = new Map<string, string>();
  private readonly celGuards: Record<string, string> = {};
  private params: Value | undefined;

  module(): string {
    const { chart } = this;
    const { guards = {}, context = {} } = chart;
    this.tellSettings();
    for (const [name, guard] of Object.entries(guards))
      if (typeof guard === "string" && !Object.hasOwn(guards, guard)) this.celGuards[name] = guard;
    const { id, ...node } = this.node(this.tree.root);
    const config = { id: id ?? null, context: code(`c.context(${print(context)})`), ...node };
    const own: JsonObject = {};
    for (const [name, guard] of Object.entries(guards)) own[name] = this.namedGuard(guard);
    for (const name of this.open.guards) if (!Object.hasOwn(own, name)) own[name] = code("() => false");
    const parts: JsonObject = {
      types: code("{} as { context: Record<string, any>; events: any; input: any }"),
    };
    if (this.actors.size > 0) {
      this.imports.add("fromPromise");
      parts.actors = Object.fromEntries(
        [...this.actors].map((src) => [
          src,
          code(`fromPromise(async ({ input }): Promise<any> => unknownActor(${literal(src)}, input))`),
        ]),
      );
    }
    if (Object.keys(own).length > 0) parts.guards = own;
    if (this.open.actions.size > 0)
      parts.actions = Object.fromEntries([...this.open.actions].map((name) => [name, code("() => {}")]));
    if (this.delays.size > 0)
      parts.delays = Object.fromEntries([...this.delays].map(([name, text]) => [name, code(text)]));
    const title = (chart.id ?? "A chart").replace(/\*\//g, "* /").replace(/\s+/g, " ");
    const celOptions = Object.keys(this.celGuards).length === 0 ? "" : print({ guards: this.celGuards });
    return `${[
      "/**",
      ` * ${title}, written by Lockstep: a machine of XState 5 whose guards and actions evaluate the chart's CEL.`,
      " *",
      " * Needs the packages `xstate` (5) and `lockstep` (the Lockstep that wrote this; its entry `lockstep/cel` holds the CEL).",
      ...(this.actors.size + this.open.guards.size + this.open.actions.size > 0
        ? [" * What only has a name in the chart stands empty in `setup`: give it with `machine.provide(…)`."]
        : []),
      " */",
      `import { ${[...this.imports].sort().join(", ")} } from "xstate";`,
      'import { cel } from "lockstep/cel";',
      "",
      `const c = cel(${celOptions});`,
      "",
      ...(this.actors.size > 0
        ? [
            "function unknownActor(name: string, _input: unknown): never {",
            "  throw new Error(`Nothing carries out ${name}: provide it.`);",
            "}",
            "",
          ]
        : []),
      `export const machine = setup(${print(parts)}).createMachine(${print(config)});`,
      "",
      "export default machine;",
    ].join("\n")}\n`;
  }

  // --- states

  protected override node(state: TreeState): JsonObject {
    const { order: _order, id: _id, ...made } = super.node(state);
    return { id: this.plainId(state), ...made };
  }

  protected override plainId(state: TreeState): string {
    return state.parent === null ? (this.chart.id ?? "machine") : state.name;
  }

  protected override idOf(state: TreeState): string {
    return `#${this.plainId(state).replaceAll("\\", "\\\\").replaceAll(".", "\\.")}`;
  }

  protected override initialText(state: TreeState, value: StateNode["initial"]): string | string[] {
    const written = super.initialText(state, value);
    if (typeof written === "string" && !written.startsWith("#")) return written;
    let found = initialTargets(value).map((text) => resolveInside(this.tree, state, text))[0] ?? null;
    while (found !== null && found.parent !== state) found = found.parent;
    return found?.key ?? written;
  }

  protected override source(src: string): void {
    this.actors.add(src);
  }

  // --- guards

  private namedGuard(guard: Guard): JsonObject {
    if (typeof guard === "object" && "placeholder" in guard) return code("() => false");
    return code(
      typeof guard === "string" && Object.values(this.celGuards).includes(guard)
        ? this.celGuard(guard, "")
        : print(this.guard(guard, "")),
    );
  }

  private names(text: string): boolean {
    return Object.hasOwn(this.chart.guards ?? {}, text);
  }

  protected override guard(guard: Guard, state: string): Json {
    if (typeof guard === "string") return this.names(guard) ? guard : code(this.celGuard(guard, state));
    if ("type" in guard) {
      if (!this.names(guard.type)) this.open.guards.add(guard.type);
      return guard.params === undefined ? guard.type : { type: guard.type, params: this.value(guard.params) };
    }
    const joined = (name: "and" | "or", parts: Guard[]): JsonObject => {
      this.imports.add(name);
      return code(`${name}([${parts.map((part) => print(this.guard(part, state))).join(", ")}]) as any`);
    };
    if ("and" in guard) return joined("and", guard.and);
    if ("or" in guard) return joined("or", guard.or);
    if ("not" in guard) {
      this.imports.add("not");
      return code(`not(${print(this.guard(guard.not, state))}) as any`);
    }
    if ("in" in guard) return code(this.stateIn(guard.in));
    this.open.guards.add(guard.placeholder);
    return guard.placeholder;
  }

  private stateIn(name: string): string {
    this.imports.add("stateIn");
    const state = this.tree.byName.get(name);
    return `stateIn(${literal(state === undefined ? `#${name}` : this.idOf(state))}) as any`;
  }

  /** XState's guards see the context and the event: `In()` is taken out, as far as `&&`, `||` and `!` join it. */
  private celGuard(text: string, state: string): string {
    const guards = Object.keys(this.chart.guards ?? {});
    const root = parseExpression(text, environmentWith(guards));
    const isCall = (node: CelNode): boolean =>
      node.op === "call" && (node.args as [string, unknown])[0] === "In";
    // A named guard that is more than CEL can only stand by its name.
    const isNamed = (node: CelNode): boolean =>
      node.op === "id" &&
      this.names(node.args as string) &&
      !Object.hasOwn(this.celGuards, node.args as string);
    const needsXState = (node: CelNode): boolean =>
      isCall(node) || isNamed(node) || children(node).some(needsXState);
    const write = (node: CelNode): string => {
      if (isNamed(node)) return literal(node.args as string);
      const [left, right] = Array.isArray(node.args) ? (node.args as [CelNode, CelNode]) : [];
      if (isCall(node)) {
        const [argument] = (node.args as [string, CelNode[]])[1];
        if (argument?.op === "value" && typeof argument.args === "string") return this.stateIn(argument.args);
      } else if (
        needsXState(node) &&
        (node.op === "&&" || node.op === "||") &&
        left !== undefined &&
        right !== undefined
      ) {
        const name = node.op === "&&" ? "and" : "or";
        this.imports.add(name);
        return `${name}([${write(left)}, ${write(right)}]) as any`;
      } else if (needsXState(node) && node.op === "!_") {
        this.imports.add("not");
        return `not(${write(node.args as CelNode)}) as any`;
      }
      if (needsXState(node))
        this.losses.add(
          `\`${text}\` fails in XState: In() can only be a part of a guard joined by &&, || and !`,
          state,
        );
      return `c.test(${literal(text.slice(node.start, node.end))})`;
    };
    return root === null || !needsXState(root) ? `c.test(${literal(text)})` : write(root);
  }

  // --- values

  private get c(): string {
    return this.params === undefined ? "c" : `c.with(${print(this.params)})`;
  }

  protected override value(value: Value): Json {
    if (value === null || typeof value === "number" || typeof value === "boolean") return value;
    this.tellPlaceholders(value);
    return code(`${this.c}.value(${print(value)})`);
  }

  private tellPlaceholders(value: Value): void {
    if (typeof value !== "object" || value === null) return;
    if (isJsonObject(value) && typeof value.placeholder === "string")
      this.losses.add(
        `the value \`${typeof value.text === "string" ? value.text : value.placeholder}\` has no implementation: it is null`,
      );
    else for (const item of Object.values(value)) this.tellPlaceholders(item);
  }

  protected override delayKey(delay: string, state: string, inAction = false, depth = 0): string {
    const { delays = {} } = this.chart;
    const named = Object.hasOwn(delays, delay) ? delays[delay] : undefined;
    if (typeof named === "string" && depth < namesDepthMax)
      return this.delayKey(named, state, inAction, depth + 1);
    if (typeof named === "number") return String(named);
    if (named !== undefined) {
      this.losses.add(`the delay \`${delay}\` has no implementation: it takes a year`, state);
      this.delays.set(delay, "31_536_000_000");
      return delay;
    }
    const ms = parseDelay(delay);
    if (ms !== null) return String(ms);
    const known = [...this.delays].find(([, text]) => text === `c.delay(${literal(delay)})`);
    const name = known?.[0] ?? `delay${this.delays.size + 1}`;
    this.delays.set(name, `c.delay(${literal(delay)})`);
    return name;
  }

  // --- actions

  protected override action(action: Action, state: string, depth: number): Json[] {
    if (typeof action === "string" || "type" in action) return this.namedAction(action, state, depth);
    if ("placeholder" in action) {
      this.open.actions.add(action.placeholder);
      return [action.placeholder];
    }
    if ("assign" in action) {
      this.imports.add("assign");
      for (const value of Object.values(action.assign)) this.tellPlaceholders(value);
      return [code(`assign(${this.c}.assign(${print(action.assign)}))`)];
    }
    if ("raise" in action) {
      this.imports.add("raise");
      return [code(`raise(${this.eventCode(action.raise, state)}${this.optionsOf(action.raise, state)})`)];
    }
    if ("send" in action) return this.send(action.send, state);
    if ("emit" in action) {
      this.imports.add("emit");
      return [code(`emit(${this.eventCode(action.emit, state)})`)];
    }
    if ("log" in action) {
      this.imports.add("log");
      const label = action.label === undefined ? "" : `, ${literal(action.label)}`;
      this.tellPlaceholders(action.log);
      return [code(`log(${this.c}.value(${print(action.log)})${label})`)];
    }
    if ("cancel" in action) {
      this.imports.add("cancel");
      if (typeof action.cancel === "string") return [code(`cancel(${literal(action.cancel)})`)];
      return [code(`cancel(${this.c}.value(${literal(action.cancel.cel)}) as any)`)];
    }
    if ("block" in action) {
      this.losses.add("a failure in a block stops the machine in XState", state);
      return this.actions(action.block, state, depth);
    }
    if ("if" in action) {
      this.imports.add("enqueueActions");
      const guard = print(this.guard(action.if, state));
      const otherwise =
        action.else === undefined ? "" : ` else { ${this.enqueued(action.else, state, depth)} }`;
      return [
        code(
          `enqueueActions(({ enqueue, check }) => { if (check(${guard})) { ${this.enqueued(action.then, state, depth)} }${otherwise} })`,
        ),
      ];
    }
    if ("foreach" in action) {
      this.imports.add("enqueueActions").add("assign");
      const { in: list, item, index, do: body } = action.foreach;
      const names = [
        `[${literal(item)}]: item`,
        ...(index === undefined ? [] : [`[${literal(index)}]: index`]),
      ];
      return [
        code(
          `enqueueActions(({ context, event, enqueue }) => { for (const [item, index] of ${this.c}.items(${print(list)})({ context, event })) { enqueue(assign({ ${names.join(", ")} } as any)); ${this.enqueued(body, state, depth)} } })`,
        ),
      ];
    }
    this.losses.add("`compensate` has no counterpart in XState: it is left out", state);
    return [];
  }

  private enqueued(actions: Actions, state: string, depth: number): string {
    return this.actions(actions, state, depth)
      .map((action) => `enqueue(${print(action)});`)
      .join(" ");
  }

  private namedAction(
    action: string | { type: string; params?: Value },
    state: string,
    depth: number,
  ): Json[] {
    const name = typeof action === "string" ? action : action.type;
    const params = typeof action === "string" ? undefined : action.params;
    const { actions = {} } = this.chart;
    const named = Object.hasOwn(actions, name) ? actions[name] : undefined;
    const isOpen =
      named === undefined || (typeof named === "object" && !Array.isArray(named) && "placeholder" in named);
    if (isOpen || depth >= namesDepthMax) {
      this.open.actions.add(name);
      return [params === undefined ? name : { type: name, params: this.value(params) }];
    }
    const outer = this.params;
    this.params = params ?? outer;
    const made = many<Action>(named).flatMap((one) => this.action(one, state, depth + 1));
    this.params = outer;
    return made;
  }

  private send(
    send: { to?: Text; type: Text; data?: Value; delay?: Delay; id?: Text; idLocation?: string },
    state: string,
  ): Json[] {
    const event = this.eventCode(send, state);
    const options = this.optionsOf(send, state);
    const { to } = send;
    if (send.idLocation !== undefined) this.losses.add("`idLocation` of a send is left out", state);
    if (to === "#_internal") {
      this.imports.add("raise");
      return [code(`raise(${event}${options})`)];
    }
    if (to === "#_parent") {
      this.imports.add("sendParent");
      return [code(`sendParent(${event}${options})`)];
    }
    if (to !== undefined && (typeof to !== "string" || !to.startsWith("#_") || to.startsWith("#_scxml_"))) {
      this.losses.add(`the send to \`${typeof to === "string" ? to : to.cel}\` is left out`, state);
      return [];
    }
    this.imports.add("sendTo");
    const target = to === undefined ? "({ self }) => self" : literal(to.slice(2));
    return [code(`sendTo(${target}, ${event}${options})`)];
  }

  private eventCode({ type, data }: { type: Text; data?: Value }, state: string): string {
    const name = typeof type === "string" ? literal(this.eventName(type, state)) : print({ cel: type.cel });
    if (data !== undefined) this.tellPlaceholders(data);
    return `${this.c}.event(${name}${data === undefined ? "" : `, ${print(data)}`})`;
  }

  private optionsOf({ delay, id }: { delay?: Delay; id?: Text }, state: string): string {
    const parts: string[] = [];
    if (typeof delay === "number") parts.push(`delay: ${delay}`);
    else if (typeof delay === "string") {
      const key = this.delayKey(delay, state, true);
      parts.push(`delay: ${/^\d+$/.test(key) ? key : literal(key)}`);
    } else if (delay !== undefined) this.losses.add("a delay without an implementation is left out", state);
    if (typeof id === "string") parts.push(`id: ${literal(id)}`);
    else if (id !== undefined) this.losses.add("a computed id of a send is left out", state);
    return parts.length === 0 ? "" : `, { ${parts.join(", ")} }`;
  }
}

/** A string literal of JavaScript; U+2028 and U+2029 end lines in old readers. */
const literal = (text: string): string =>
  JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

/** JSON with code among it, as JavaScript. */
function print(json: Json, indent = ""): string {
  if (typeof json === "string") return literal(json);
  if (typeof json !== "object" || json === null) return JSON.stringify(json);
  const piece = Array.isArray(json) ? undefined : pieces.get(json);
  if (piece !== undefined) return piece;
  const inner = `${indent}  `;
  const items = Array.isArray(json)
    ? json.map((item) => print(item, inner))
    : Object.entries(json).map(
        ([key, item]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : `[${literal(key)}]`}: ${print(item, inner)}`,
      );
  const [open, close] = Array.isArray(json) ? "[]" : "{}";
  const line = items.join(", ");
  if (items.length === 0) return `${open}${close}`;
  if (line.length < 90 && !line.includes("\n")) return Array.isArray(json) ? `[${line}]` : `{ ${line} }`;
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`;
}
