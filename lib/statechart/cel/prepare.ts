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
import type { Json } from "@/lib/base/json";
import { comparisons, operations } from "./arithmetic";
import { charge, chargeSize, textMax } from "./budget";
import { asMap, equal } from "./equality";
import { EvaluationFailure } from "./evaluation-failure";
import { matches } from "./match-pattern";
import { timestamp, timestampField } from "./time";
import { celTypeName, toCel, toJson, type CelValue } from "./view";

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
  /** Where it stands in the text `input`; `pos` of an access is the field's. */
  readonly input: string;
  readonly start: number;
  readonly end: number;
  readonly pos: number;
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
