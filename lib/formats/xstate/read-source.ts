/**
 * A machine in TypeScript or JavaScript source: the one `createMachine({…})`, `setup({…}).createMachine({…})` or
 * `Machine({…})` of the text, read as data and never run.
 *
 * Literals are taken over, also through constants of the file, spreads of them, `as const` and sums of numbers. A function,
 * and what else only running would tell, stands as a placeholder with its text where a guard, an action, a value, a delay
 * or a source may be code; where the machine's own shape is code, the text is refused with its line and column.
 */
import { Parser, type Expression, type Node, type ObjectExpression } from "acorn";
import { tsPlugin } from "@sveltejs/acorn-typescript";
import type { Json, JsonObject } from "@/lib/base/json";
import { importBounds, refuse, type ImportResult } from "../import-result";
import { positionAt, type TextPosition } from "../text-position";
import { readXState, type Implementations } from "./read-xstate";
import { codeText, sourceCode } from "./source-code";

export function readSource(text: string): ImportResult {
  let program: Node;
  try {
    program = parse(text);
  } catch (error) {
    const at = (error as { loc?: { line: number; column: number } }).loc;
    const tooDeep = error instanceof RangeError || /stack space/.test(String(error));
    const why = tooDeep
      ? "it is nested too deep"
      : String((error as Error).message).replace(/ \(\d+:\d+\)$/, "");
    return refuse(
      "xstate",
      "bad-source",
      `This is no TypeScript or JavaScript that can be read: ${why}.`,
      at === undefined ? { line: 1, column: 1 } : { line: at.line, column: at.column + 1 },
    );
  }
  try {
    const reader = new SourceReader(text, program);
    const machine = reader.machine();
    return { ...readXState(machine.config, machine.implementations), positions: {} };
  } catch (error) {
    if (error instanceof Refusal) return refuse("xstate", error.code, error.message, error.at);
    if (error instanceof RangeError)
      return refuse("xstate", "too-deep", "The machine is nested too deep.", { line: 1, column: 1 });
    throw error;
  }
}

const plain = Parser.extend(tsPlugin());
const withJsx = Parser.extend(tsPlugin({ jsx: true }));

function parse(text: string): Node {
  const options = {
    ecmaVersion: "latest",
    sourceType: "module",
    locations: true,
    allowReturnOutsideFunction: true,
  } as const;
  try {
    return plain.parse(text, options);
  } catch (error) {
    // `<T>x` is a type in one of them and an element in the other.
    if (!/<\/|\/>/.test(text)) throw error;
    return withJsx.parse(text, options);
  }
}

class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly at: TextPosition,
  ) {
    super(message);
  }
}

/** Below these fields a piece of program may stand. */
const codeFields = new Set(
  "guard cond actions entry exit context input output params src assignments assignment event delay message guards".split(
    " ",
  ),
);
/** Types and switches that say nothing about the machine's behaviour. */
const ignored = new Set([
  "types",
  "schema",
  "tsTypes",
  "predictableActionArguments",
  "preserveActionOrder",
  "strict",
]);
const builtInActions = new Set(["raise", "sendTo", "sendParent", "emit", "log", "cancel"]);

interface Call {
  type: "CallExpression";
  callee: Node;
  arguments: Node[];
}

class SourceReader {
  private readonly constants = new Map<string, Node>();
  private readonly calls: (Call & Node)[] = [];
  private values = 0;
  private depth = 0;

  constructor(
    private readonly text: string,
    program: Node,
  ) {
    this.collect(program);
  }

  machine(): { config: Json; implementations: Implementations } {
    const found = this.calls.filter((call) => this.isMachine(call));
    const [call, second] = found;
    if (call === undefined)
      throw new Refusal("no-machine", "The source holds no createMachine({…}) to read.", {
        line: 1,
        column: 1,
      });
    if (second !== undefined)
      throw new Refusal(
        "many-machines",
        `The source holds ${found.length} machines (lines ${found.map((one) => this.at(one).line).join(", ")}): keep the one to import.`,
        this.at(second),
      );
    const [config, options] = call.arguments;
    if (config === undefined)
      throw new Refusal("no-machine", "createMachine() has no machine between its brackets.", this.at(call));
    const callee = call.callee as Node & { object?: Node };
    const setup = callee.object === undefined ? undefined : this.resolve(callee.object);
    const given = setup?.type === "CallExpression" ? (setup as Call & Node).arguments[0] : undefined;
    return {
      config: this.object(config, false),
      implementations: this.implementations([given, options]),
    };
  }

  // --- finding

  private collect(program: Node): void {
    // A stack of our own: the text may nest as deep as acorn lets it.
    const waiting: Node[] = [program];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (node.type === "CallExpression") this.calls.push(node as Call & Node);
      if (node.type === "VariableDeclarator") {
        const { id, init } = node as Node & { id: Node & { name?: string }; init: Node | null };
        if (id.name !== undefined && init !== null && !this.constants.has(id.name))
          this.constants.set(id.name, init);
      }
      if (node.type === "FunctionDeclaration") {
        const { id } = node as Node & { id: { name: string } | null };
        if (id !== null && !this.constants.has(id.name)) this.constants.set(id.name, node);
      }
      for (const value of Object.values(node) as unknown[])
        for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
          if (typeof child === "object" && child !== null && typeof (child as Node).type === "string")
            waiting.push(child as Node);
    }
    this.calls.sort((a, b) => a.start - b.start);
  }

  private isMachine({ callee }: Call): boolean {
    if (callee.type === "Identifier")
      return /^(?:createMachine|Machine)$/.test((callee as Node & { name: string }).name);
    if (callee.type !== "MemberExpression") return false;
    const { property } = callee as Node & { property: Node & { name?: string } };
    return property.name === "createMachine";
  }

  private implementations(parts: (Node | undefined)[]): Implementations {
    const found: Implementations = { guards: {}, actions: {}, delays: {} };
    for (const part of parts) {
      const node = part === undefined ? undefined : this.resolve(part);
      if (node?.type !== "ObjectExpression") continue;
      for (const property of (node as ObjectExpression).properties) {
        if (property.type !== "Property") continue;
        const key = this.key(property);
        if (key !== "guards" && key !== "actions" && key !== "delays") continue;
        const value = this.resolve(property.value);
        if (value.type === "ObjectExpression") Object.assign(found[key], this.object(value, true));
      }
    }
    return found;
  }

  // --- reading

  /** What an expression stands for: constants of the file followed, types taken off. */
  private resolve(node: Node): Node {
    let at = node;
    for (let step = 0; step < 100; step++) {
      if (wrappers.has(at.type)) at = (at as Node & { expression: Node }).expression;
      else if (at.type === "Identifier") {
        const next = this.constants.get((at as Node & { name: string }).name);
        if (next === undefined) return at;
        at = next;
      } else return at;
    }
    return node;
  }

  /** `undefined` where the source says so. */
  private value(written: Node, mayBeCode: boolean): Json | undefined {
    if (++this.values > importBounds.valuesMax)
      throw new Refusal(
        "too-large",
        `The machine has more than ${importBounds.valuesMax} values.`,
        this.at(written),
      );
    if (this.depth > importBounds.depthMax)
      throw new Refusal(
        "too-deep",
        `The machine is nested deeper than ${importBounds.depthMax} levels, or names itself.`,
        this.at(written),
      );
    const node = this.resolve(written) as Expression;
    this.depth++;
    try {
      switch (node.type) {
        case "Literal":
          if (node.value === null && node.raw === "null") return null;
          if (
            typeof node.value === "string" ||
            typeof node.value === "number" ||
            typeof node.value === "boolean"
          )
            return node.value;
          break;
        case "TemplateLiteral":
          if (node.expressions.length === 0) return node.quasis[0]?.value.cooked ?? "";
          break;
        case "Identifier":
          if (node.name === "undefined") return undefined;
          break;
        case "UnaryExpression": {
          const value = this.value(node.argument, true);
          if (node.operator === "-" && typeof value === "number") return -value;
          if (node.operator === "void") return undefined;
          break;
        }
        case "BinaryExpression": {
          const folded = this.arithmetic(
            node.operator,
            this.value(node.left, true),
            this.value(node.right, true),
          );
          if (folded !== undefined) return folded;
          break;
        }
        case "ArrayExpression":
          return node.elements.flatMap((element): Json[] => {
            if (element === null) return [null];
            if (element.type !== "SpreadElement") return [this.value(element, mayBeCode) ?? null];
            const spread = this.value(element.argument, false);
            if (Array.isArray(spread)) return spread;
            throw this.refusal(element, "A spread can only be of a list that stands in the file.");
          });
        case "ObjectExpression":
          return this.object(node, mayBeCode);
        case "CallExpression": {
          const made = this.call(node);
          if (made !== undefined) return made;
          break;
        }
        default:
          // Only running it would tell.
          break;
      }
    } finally {
      this.depth--;
    }
    if (mayBeCode) return sourceCode(this.text.slice(node.start, node.end));
    throw this.refusal(
      written,
      `\`${this.clip(written)}\` is code: this part of a machine must be written as it is.`,
    );
  }

  private object(written: Node, mayBeCode: boolean): JsonObject {
    const node = this.resolve(written);
    if (node.type !== "ObjectExpression")
      throw this.refusal(
        written,
        `\`${this.clip(written)}\` is code: a machine must be an object written out, as \`{ initial: "a", … }\`.`,
      );
    const object: JsonObject = {};
    for (const property of (node as ObjectExpression).properties) {
      if (property.type === "SpreadElement") {
        Object.assign(object, this.object(property.argument, mayBeCode));
        continue;
      }
      const key = this.key(property);
      if (property.kind !== "init")
        throw this.refusal(property, `\`${key}\` is a getter or setter: write its value.`);
      if (key === "__proto__") throw this.refusal(property, "The key `__proto__` is not allowed.");
      if (!mayBeCode && ignored.has(key)) continue;
      const isCode = mayBeCode || codeFields.has(key);
      const value =
        key === "context"
          ? this.context(property.value)
          : key === "meta"
            ? this.meta(property.value)
            : this.value(property.value, isCode);
      if (value !== undefined) object[key] = value;
    }
    return object;
  }

  private key(property: { computed: boolean; key: Node }): string {
    const { key, computed } = property;
    if (!computed && key.type === "Identifier") return (key as Node & { name: string }).name;
    const value = this.value(key, true);
    if (typeof value === "string" || typeof value === "number") return String(value);
    throw this.refusal(key, `The key \`${this.clip(key)}\` is computed: write it out.`);
  }

  /** `context: ({ input }) => ({ n: 0 })` says its values as well as an object does. */
  private context(written: Node): Json | undefined {
    const node = this.resolve(written) as Node & { body?: Node };
    if (node.type !== "ArrowFunctionExpression" || node.body === undefined) return this.value(written, true);
    const body = this.resolve(node.body);
    return body.type === "ObjectExpression" ? this.object(body, true) : this.value(written, true);
  }

  private meta(written: Node): Json | undefined {
    const node = this.resolve(written);
    try {
      return this.value(node, false);
    } catch (error) {
      if (error instanceof Refusal && error.code === "code-in-machine")
        return this.text.slice(node.start, node.end);
      throw error;
    }
  }

  private arithmetic(operator: string, a: Json | undefined, b: Json | undefined): Json | undefined {
    if (operator === "+" && typeof a === "string" && typeof b === "string") return a + b;
    if (typeof a !== "number" || typeof b !== "number") return undefined;
    const result = { "+": a + b, "-": a - b, "*": a * b, "/": a / b }[operator];
    return result !== undefined && Number.isFinite(result) ? result : undefined;
  }

  /** XState's own functions as its JSON has them; undefined for any other call. */
  private call(node: Extract<Expression, { type: "CallExpression" }>): Json | undefined {
    const { callee } = node;
    const name =
      callee.type === "Identifier"
        ? callee.name
        : callee.type === "MemberExpression" && callee.property.type === "Identifier"
          ? callee.property.name
          : "";
    const [first, second, third] = node.arguments as Node[];
    const value = (part: Node | undefined): Json =>
      part === undefined ? null : (this.value(part, true) ?? null);
    const options = (part: Node | undefined): JsonObject => {
      const given = part === undefined ? {} : this.value(part, true);
      return typeof given === "object" && given !== null && !Array.isArray(given) ? given : {};
    };
    if (name === "and" || name === "or") return { type: `xstate.${name}`, guards: value(first) };
    if (name === "not") return { type: "xstate.not", guards: [value(first)] };
    if (name === "stateIn" && typeof value(first) === "string")
      return { type: "xstate.stateIn", params: { stateValue: value(first) } };
    if (name === "assign" && first !== undefined && this.resolve(first).type === "ObjectExpression")
      return { type: "xstate.assign", assignments: this.object(first, true) };
    if (!builtInActions.has(name)) return undefined;
    const needed = name === "sendTo" ? [first, second] : name === "log" ? [] : [first];
    // Computed by a function, the action is code as a whole.
    if (needed.some((part) => codeText(value(part)) !== undefined)) return undefined;
    switch (name) {
      case "sendTo":
        return { type: "xstate.sendTo", actorRef: value(first), event: value(second), ...options(third) };
      case "log":
        return {
          type: "xstate.log",
          message: value(first),
          ...(second === undefined ? {} : { label: value(second) }),
        };
      case "cancel":
        return { type: "xstate.cancel", sendId: value(first) };
      default:
        return { type: `xstate.${name}`, event: value(first), ...options(second) };
    }
  }

  private clip(node: Node): string {
    const text = this.text.slice(node.start, node.end).replace(/\s+/g, " ");
    return text.length > 60 ? `${text.slice(0, 59)}…` : text;
  }

  private refusal(node: { start: number }, message: string): Refusal {
    return new Refusal("code-in-machine", message, this.at(node));
  }

  private at({ start }: { start: number }): TextPosition {
    return positionAt(this.text, start);
  }
}

/** Nodes that only say a type. */
const wrappers = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
  "ParenthesizedExpression",
]);
