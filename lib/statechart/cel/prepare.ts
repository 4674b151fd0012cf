/**
 * The mends on @marcbachmann/cel-js 8, laid over a freshly parsed expression's nodes.
 *
 * 1. `matches` runs on re2js (linear time); the library's own is JavaScript's RegExp, open to ReDoS.
 * 2. ints and doubles mix in arithmetic and comparison; `/` on two ints stays integer division.
 * 3. equality is ours: values of different types are unequal instead of an error, and its cost is charged.
 * 4. comprehension rounds, `+` and calls are charged to the budget.
 * 5. branches of `?:` may differ in type; times do not depend on the host's time zone; `json()` gives ints for whole numbers.
 *
 * The library resolves a node's behaviour through `meta` on its first evaluation; an own `evaluate` on the node wins
 * over that. The version is pinned for this reason, and cel.test.ts notices a change.
 */
import { RE2JS } from "re2js";
import type { Json } from "@/lib/base/json";
import { charge, chargeSize, textMax } from "./budget";
import { EvaluationFailure } from "./evaluation-failure";
import { isDuration, isUint } from "./library-types";
import { timestamp, timestampField } from "./time";
import { celTypeName, JsonMap, toCel, toJson, type CelValue } from "./view";

export type ReadRecorder = (path: string, value: Json) => void;

interface CelType {
  name: string;
  hasDynType: boolean;
}
interface Checker {
  dynType: CelType;
  boolType: CelType;
  intType: CelType;
  doubleType: CelType;
  check(node: CelNode, context: unknown): CelType;
}
interface Evaluator {
  run(node: CelNode, context: unknown): CelValue;
}
type Check = (checker: Checker, node: CelNode, context: unknown) => CelType;
type Evaluate = (evaluator: Evaluator, node: CelNode, context: unknown) => CelValue;
interface Macro {
  val?: CelNode;
  exp?: CelNode;
  evaluate: (evaluator: Evaluator, macro: Macro, context: unknown) => CelValue;
}
/** The parts of the library's ASTNode that we touch. */
export interface CelNode {
  op: string;
  args: unknown;
  left?: CelNode;
  right?: CelNode;
  /** What the checker chose for the operands; absent before the check. */
  handle?: (left: CelValue, right: CelValue, node: CelNode, evaluator: Evaluator) => CelValue;
  evaluate: Evaluate;
  meta: { check: Check; evaluate: Evaluate; alternate?: CelNode; macro?: Macro };
  setMeta(key: string, value: unknown): CelNode;
}

export function prepare(node: CelNode, record: ReadRecorder | null): void {
  const { alternate, macro } = node.meta;
  if (alternate !== undefined) return prepareComprehension(alternate, record);
  if (macro !== undefined) {
    for (const inner of [macro.val, macro.exp]) if (inner !== undefined) prepare(inner, record);
    return;
  }
  switch (node.op) {
    case "value":
    case "id":
      if (record !== null) recordChain(node, record);
      return;
    case ".":
    case "[]":
      if (record !== null && recordChain(node, record)) return;
      return children(node).forEach((child) => prepare(child, record));
    case "==":
    case "!=":
      mendEquality(node);
      break;
    case "in":
      mendMembership(node);
      break;
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
    case "<":
    case "<=":
    case ">":
    case ">=":
      mendArithmetic(node, node.op);
      break;
    case "?:":
      mendTernary(node);
      break;
    case "call":
    case "rcall":
      mendCall(node);
      break;
  }
  for (const child of children(node)) prepare(child, record);
}

/** The nodes directly under `node`, as written. */
export function children(node: CelNode): CelNode[] {
  const { args } = node;
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [(args as CelNode[])[0] as CelNode];
    case "call":
      return (args as [string, CelNode[]])[1];
    case "rcall": {
      const [, receiver, rest] = args as [string, CelNode, CelNode[]];
      return [receiver, ...rest];
    }
    case "map":
      return (args as [CelNode, CelNode][]).flat();
    case "!_":
    case "-_":
      return [args as CelNode];
    default:
      return Array.isArray(args) ? (args as CelNode[]) : [];
  }
}

// ---- 4. costs

function prepareComprehension(node: CelNode, record: ReadRecorder | null): void {
  const { iterable, step } = node.args as { iterable: CelNode; step: CelNode };
  prepare(iterable, record);
  prepareStep(step, record);
  wrap(step, (evaluate, evaluator, context) => {
    charge(1);
    return evaluate(evaluator, context);
  });
}

/** A round's own nodes: the library builds them from the author's predicate and internal accumulators. */
function prepareStep(step: CelNode, record: ReadRecorder | null): void {
  if (step.op === "?:") for (const part of step.args as CelNode[]) prepareStep(part, record);
  else if (step.op === "accuPush") prepare(step.args as CelNode, record);
  else if (step.op !== "accuValue" && step.op !== "accuInc") prepare(step, record);
}

/** Puts `around` in front of the node's own behaviour, which is looked up when it runs (the checker may replace it). */
function wrap(
  node: CelNode,
  around: (
    evaluate: (evaluator: Evaluator, context: unknown) => CelValue,
    evaluator: Evaluator,
    context: unknown,
  ) => CelValue,
): void {
  const inner = Object.hasOwn(node, "evaluate") ? node.evaluate : null;
  const own = (evaluator: Evaluator, context: unknown): CelValue => {
    if (inner !== null) return inner(evaluator, node, context);
    const { alternate, macro, evaluate } = node.meta;
    if (alternate !== undefined) return alternate.evaluate(evaluator, alternate, context);
    if (macro !== undefined) return macro.evaluate(evaluator, macro, context);
    return evaluate(evaluator, node, context);
  };
  node.evaluate = (evaluator, _node, context) => around(own, evaluator, context);
}

// ---- 2. numbers

const isNumeric = (type: CelType): boolean => type.name === "int" || type.name === "double";
const int64Max = 9223372036854775807n;
const int64Min = -9223372036854775808n;

function mendArithmetic(node: CelNode, op: string): void {
  const compares = op.startsWith("<") || op.startsWith(">");
  const [left, right] = node.args as [CelNode, CelNode];
  const check = node.meta.check;
  node.setMeta("check", ((checker, self, context) => {
    self.left = left;
    self.right = right;
    const leftType = checker.check(left, context);
    const rightType = checker.check(right, context);
    if (isNumeric(leftType) && isNumeric(rightType)) {
      if (compares) return checker.boolType;
      return leftType.name === "int" && rightType.name === "int" ? checker.intType : checker.doubleType;
    }
    const type = check(checker, self, context);
    // The library infers from the operands it knows: `x - 1` would be an int though x may hold a double.
    return !compares && (leftType.hasDynType || rightType.hasDynType) ? checker.dynType : type;
  }) satisfies Check);
  const compute = compares ? comparisons[op] : operations[op];
  node.evaluate = (evaluator, _node, context) => {
    const a = evaluator.run(left, context);
    const b = evaluator.run(right, context);
    const numbers =
      (typeof a === "bigint" || typeof a === "number") && (typeof b === "bigint" || typeof b === "number");
    if (numbers && compute !== undefined) return compute(a, b);
    if (op === "+" && (typeof a === "string" || Array.isArray(a))) {
      // Charged before it is made: a list that doubles is memory, not only time.
      charge(1 + (typeof a === "string" ? a.length >> 6 : a.length));
    }
    if (node.handle === undefined) throw noOverload(a, op, b);
    const value = node.handle(a, b, node, evaluator);
    if (op === "+") chargeSize(value);
    return value;
  };
}

function noOverload(a: CelValue, op: string, b: CelValue): EvaluationFailure {
  return new EvaluationFailure(
    "no-such-overload",
    `no such overload: ${celTypeName(a)} ${op} ${celTypeName(b)}`,
  );
}

type Numeric = number | bigint;

function int64(value: bigint): bigint {
  if (value <= int64Max && value >= int64Min) return value;
  throw new EvaluationFailure("numeric-overflow", `integer overflow: ${value}`);
}

const divisor = (value: bigint): bigint => {
  if (value === 0n) throw new EvaluationFailure("division-by-zero", "division by zero");
  return value;
};

const operations: Record<string, (a: Numeric, b: Numeric) => Numeric> = {
  "+": (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? int64(a + b) : Number(a) + Number(b)),
  "-": (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? int64(a - b) : Number(a) - Number(b)),
  "*": (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? int64(a * b) : Number(a) * Number(b)),
  "/": (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? a / divisor(b) : Number(a) / Number(b)),
  "%": (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? a % divisor(b) : Number(a) % Number(b)),
};

const comparisons: Record<string, (a: Numeric, b: Numeric) => boolean> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

// ---- 3. equality

function mendEquality(node: CelNode): void {
  const [left, right] = node.args as [CelNode, CelNode];
  const expected = node.op === "==";
  node.setMeta("check", ((checker, self, context) => {
    self.left = left;
    self.right = right;
    checker.check(left, context);
    checker.check(right, context);
    return checker.boolType;
  }) satisfies Check);
  node.evaluate = (evaluator, _node, context) =>
    equal(evaluator.run(left, context), evaluator.run(right, context)) === expected;
}

/** CEL equality: numbers by value across int and double, different types unequal, lists and maps by their items. */
export function equal(a: CelValue, b: CelValue): boolean {
  if (a === b) return true;
  if (typeof a === "bigint") return typeof b === "number" && Number(a) === b;
  if (typeof a === "number") return typeof b === "bigint" && a === Number(b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    charge(a.length);
    return a.every((item, index) => equal(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  if (isUint(a)) return isUint(b) && a.valueOf() === b.valueOf();
  if (isDuration(a)) return isDuration(b) && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof Uint8Array) {
    return b instanceof Uint8Array && a.length === b.length && a.every((byte, index) => byte === b[index]);
  }
  if (a instanceof JsonMap && b instanceof JsonMap && a.json === b.json) return true;
  const [left, right] = [asMap(a), asMap(b)];
  if (left === null || right === null || left.size !== right.size) return false;
  charge(left.size);
  for (const [key, item] of left) if (!right.has(key) || !equal(item, right.get(key))) return false;
  return true;
}

function asMap(value: object): Map<unknown, CelValue> | null {
  if (value instanceof Map) return value as Map<unknown, CelValue>;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? new Map(Object.entries(value)) : null;
}

function mendMembership(node: CelNode): void {
  const [left, right] = node.args as [CelNode, CelNode];
  const check = node.meta.check;
  node.setMeta("check", ((checker, self, context) => {
    self.left = left;
    self.right = right;
    checker.check(left, context);
    const type = checker.check(right, context);
    // A list of any items may be searched for any value; only what cannot hold items is refused early.
    return isNumeric(type) || type.name === "bool" ? check(checker, self, context) : checker.boolType;
  }) satisfies Check);
  node.evaluate = (evaluator, _node, context) => {
    const value = evaluator.run(left, context);
    const items = evaluator.run(right, context);
    if (Array.isArray(items)) {
      charge(items.length);
      return items.some((item) => equal(item, value));
    }
    if (typeof items === "string" && typeof value === "string") return items.includes(value);
    const map = typeof items === "object" && items !== null ? asMap(items) : null;
    if (map !== null) return map.has(value);
    throw new EvaluationFailure("no-such-overload", `"in" needs a list or map, found ${celTypeName(items)}`);
  };
}

// ---- 5. branches

function mendTernary(node: CelNode): void {
  const check = node.meta.check;
  node.setMeta("check", ((checker, self, context) => {
    try {
      return check(checker, self, context);
    } catch (error) {
      // Thrown last, when everything the evaluation needs is in place.
      if ((error as { code?: unknown }).code === "incompatible_ternary_branches") return checker.dynType;
      throw error;
    }
  }) satisfies Check);
}

// ---- 1. calls

function mendCall(node: CelNode): void {
  const own = ownCall(node);
  if (own !== null) {
    const { operands, call } = own;
    wrap(node, (evaluate, evaluator, context) => {
      charge(1);
      const values = operands.map((operand) => evaluator.run(operand, context));
      const value = call(values);
      // Not ours after all (another type of receiver): the library's overload.
      return value === undefined ? evaluate(evaluator, context) : value;
    });
    return;
  }
  wrap(node, (evaluate, evaluator, context) => {
    charge(1);
    const value = evaluate(evaluator, context);
    chargeSize(value);
    return value;
  });
}

/** Calls that we answer ourselves, by their values; undefined: leave it to the library. */
function ownCall(node: CelNode): { operands: CelNode[]; call: (values: CelValue[]) => CelValue } | null {
  const name = (node.args as [string])[0];
  const operands = children(node);
  if (node.op === "call") {
    if (name !== "timestamp" || operands.length !== 1) return null;
    const call = ([value]: CelValue[]): CelValue =>
      typeof value === "string" || typeof value === "bigint" ? timestamp(value) : undefined;
    return { operands, call };
  }
  if (operands.length > 2) return null;
  switch (name) {
    case "matches":
      return operands.length === 2 ? { operands, call: ([text, pattern]) => matches(text, pattern) } : null;
    case "json":
      return { operands, call: ([bytes]) => (bytes instanceof Uint8Array ? jsonOf(bytes) : undefined) };
    case "join":
      return {
        operands,
        call: ([list, separator]) => {
          if (Array.isArray(list)) chargeJoin(list, typeof separator === "string" ? separator : "");
          return undefined;
        },
      };
  }
  if (!name.startsWith("get")) return null;
  const call = ([time, zone]: CelValue[]): CelValue =>
    time instanceof Date && (zone === undefined || typeof zone === "string")
      ? (timestampField(name, time, zone ?? null) ?? undefined)
      : undefined;
  return { operands, call };
}

/** Refused before it is made: a long separator times many items. */
function chargeJoin(list: readonly CelValue[], separator: string): void {
  let length = separator.length * Math.max(0, list.length - 1);
  for (const item of list) if (typeof item === "string") length += item.length;
  if (length > textMax)
    throw new EvaluationFailure("cost-exceeded", `a text grows beyond ${textMax} characters`);
  charge(list.length + (length >> 6));
}

function jsonOf(bytes: Uint8Array): CelValue {
  try {
    return toCel(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Json);
  } catch (error) {
    throw new EvaluationFailure("not-json", `json(): ${(error as Error).message}`);
  }
}

// A pattern is a short text; re2 compiles in time proportional to it and matches in pattern × text.
const patternMaxChars = 500;
const patternsKept = 200;
const patterns = new Map<string, RE2JS>();

function matches(text: CelValue, pattern: CelValue): boolean {
  if (typeof text !== "string" || typeof pattern !== "string") {
    throw new EvaluationFailure(
      "no-matching-overload",
      `matches() takes a string and a pattern, found ${celTypeName(text)} and ${celTypeName(pattern)}`,
    );
  }
  charge(1 + ((text.length * (1 + pattern.length)) >> 6));
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    if (pattern.length > patternMaxChars) {
      throw new EvaluationFailure("bad-pattern", `a pattern may have ${patternMaxChars} characters`);
    }
    try {
      compiled = RE2JS.compile(pattern);
    } catch (error) {
      throw new EvaluationFailure(
        "bad-pattern",
        `the pattern "${pattern}" is not valid: ${(error as Error).message}`,
      );
    }
    if (patterns.size >= patternsKept) patterns.clear();
    patterns.set(pattern, compiled);
  }
  return compiled.matcher(text).find();
}

// ---- reads for traces

const recorded = new Set(["context", "event", "_event", "input", "params"]);
// A trace is kept for years: a list of a thousand rows is named, not copied.
const readMaxChars = 500;

/** Makes a whole access chain (`context.rows[0].qty`) report its path and value. False when it is not such a chain. */
function recordChain(node: CelNode, record: ReadRecorder): boolean {
  const parts: (string | CelNode)[] = [];
  let root = node;
  while (root.op === "." || root.op === "[]") {
    const [inner, part] = root.args as [CelNode, string | CelNode];
    parts.unshift(part);
    root = inner;
  }
  if (root.op !== "id" || !recorded.has(root.args as string)) return false;
  for (const part of parts) if (typeof part !== "string") prepare(part, record);
  wrap(node, (evaluate, evaluator, context) => {
    const value = evaluate(evaluator, context);
    let path = root.args as string;
    for (const part of parts) {
      path += typeof part === "string" ? `.${part}` : `[${indexText(evaluator.run(part, context))}]`;
    }
    record(path, summary(value));
    return value;
  });
  return true;
}

const indexText = (value: CelValue): string =>
  typeof value === "string" ? JSON.stringify(value) : String(value);

function summary(value: CelValue): Json {
  if (Array.isArray(value) && value.length > 100) return `… list of ${value.length}`;
  try {
    const json = toJson(value);
    const text = JSON.stringify(json);
    return text.length <= readMaxChars ? json : `${text.slice(0, readMaxChars)}…`;
  } catch {
    return `… ${celTypeName(value)}`;
  }
}
