/**
 * The type that an expression's value may have, and what in it can never work whatever the values: a field that is not
 * there, a text compared with a number, a method of another kind of value.
 *
 * Holds: it speaks up only when every value that the types allow fails; an unknown type is never a finding. What the
 *        library's own check refuses (names and overloads it does not have) raises at least a doubt.
 */
import type { CelNode } from "./prepare";
import { isUint } from "./library-types";
import { functionsNamed, type Signature } from "./signatures";
import {
  dyn,
  fieldOf,
  isDyn,
  join,
  kind,
  listOfType,
  mapOfType,
  nothing,
  numeric,
  ofKind,
  ofTexts,
  typeWords,
  type ValueType,
} from "./value-type";

export interface TypeFinding {
  code: "unknown-field" | "type-mismatch" | "unknown-state";
  message: string;
  /** The part of the text it is about, and the names that could stand there instead. */
  at?: { start: number; end: number; written: string; known: Iterable<string> };
}

export interface TypeScope {
  /** Null: there is no such variable. */
  variable(name: string): ValueType | null;
  /** Whether a state has this name: In('name'). */
  isState(name: string): boolean;
  stateNames(): Iterable<string>;
  find(finding: TypeFinding): void;
  /** Something here is not as the environment knows it: whether it is wrong is the library's check to say. */
  doubt(): void;
}

const bool = ofKind(kind.bool);
const int = ofKind(kind.int);
const string = ofKind(kind.string);
const number = ofKind(kind.int | kind.double);
const always = ofTexts([true]);
const never = ofTexts([false]);
const truth = (value: boolean): ValueType => (value ? always : never);

export function inferType(node: CelNode, scope: TypeScope): ValueType {
  return new Inference(scope).type(node);
}

class Inference {
  /** A comprehension's own variables, innermost last. */
  private readonly bound: [name: string, type: ValueType][] = [];

  constructor(private readonly scope: TypeScope) {}

  type(node: CelNode): ValueType {
    switch (node.op) {
      case "value":
        return literal(node.args);
      case "id":
        return this.variable(node.args as string);
      case ".":
        return this.field(node, false);
      case "[]":
        return this.index(node);
      case "list":
        return listOfType(this.all(node.args as CelNode[]).reduce((all, one) => join(all, one), nothing));
      case "map":
        return this.map(node.args as [CelNode, CelNode][]);
      case "!_": {
        const type = this.mustBe(node.args as CelNode, kind.bool, "`!`");
        return type.values?.length === 1 ? truth(type.values[0] !== true) : bool;
      }
      case "-_":
        return this.negated(this.mustBe(node.args as CelNode, numeric | kind.duration, "`-`"));
      case "&&":
      case "||":
        return this.logic(node.op, node.args as [CelNode, CelNode]);
      case "?:":
        return this.ternary(node.args as [CelNode, CelNode, CelNode]);
      case "==":
      case "!=":
        return this.equality(node);
      case "<":
      case "<=":
      case ">":
      case ">=":
        return this.comparison(node);
      case "in":
        return this.membership(node.args as [CelNode, CelNode]);
      case "+":
      case "-":
      case "*":
      case "/":
      case "%":
        return this.arithmetic(node);
      case "call":
        return this.call(node);
      case "rcall":
        return this.method(node);
      default:
        this.scope.doubt();
        return dyn;
    }
  }

  private all(nodes: readonly CelNode[]): ValueType[] {
    return nodes.map((node) => this.type(node));
  }

  private variable(name: string): ValueType {
    for (let index = this.bound.length - 1; index >= 0; index--) {
      const one = this.bound[index];
      if (one?.[0] === name) return one[1];
    }
    const known = this.scope.variable(name);
    if (known === null) this.scope.doubt();
    return known ?? dyn;
  }

  private within(name: string, type: ValueType, inside: () => ValueType): ValueType {
    this.bound.push([name, type]);
    const made = inside();
    this.bound.pop();
    return made;
  }

  private mismatch(message: string): void {
    this.scope.find({ code: "type-mismatch", message });
  }

  // ---- access

  /** `tested`: inside has(), where its absence is what is asked. */
  private field(node: CelNode, tested: boolean): ValueType {
    const [receiver, name] = node.args as [CelNode, string];
    return this.access(this.type(receiver), name, receiver, tested, { start: node.pos, end: node.end });
  }

  private index(node: CelNode): ValueType {
    const [receiver, index] = node.args as [CelNode, CelNode];
    const type = this.type(receiver);
    const key = this.type(index);
    if (index.op === "value" && typeof index.args === "string" && (type.kinds & kind.list) === 0)
      return this.access(type, index.args, receiver, false, null);
    if ((type.kinds & (kind.list | kind.map)) === 0) {
      this.mismatch(`\`${textOf(receiver)}\` is ${typeWords(type)}: it has no items`);
      return dyn;
    }
    const items = (type.kinds & kind.list) === 0 ? nothing : (type.item ?? dyn);
    const fields = (type.kinds & kind.map) === 0 ? nothing : anyField(type);
    if (type.kinds === kind.list && (key.kinds & numeric) === 0)
      this.mismatch(`an item of the list \`${textOf(receiver)}\` has a number, not ${typeWords(key)}`);
    const found = join(items, fields);
    return found.kinds === 0 ? dyn : found;
  }

  private access(
    type: ValueType,
    name: string,
    receiver: CelNode,
    tested: boolean,
    place: { start: number; end: number } | null,
  ): ValueType {
    if ((type.kinds & kind.map) === 0) {
      // A kind of its own (google.protobuf.…) or a value that never has fields.
      if (type.kinds !== 0 && (type.kinds & kind.type) === 0)
        this.mismatch(`\`${textOf(receiver)}\` is ${typeWords(type)}: it has no field \`${name}\``);
      return dyn;
    }
    const found = fieldOf(type, name);
    if (found !== null) return found;
    if (!tested) {
      const known = [...(type.fields?.keys() ?? [])];
      this.scope.find({
        code: "unknown-field",
        message: `\`${textOf(receiver)}\` has no field \`${name}\``,
        ...(place === null ? {} : { at: { ...place, written: name, known } }),
      });
    }
    return dyn;
  }

  private map(entries: readonly [CelNode, CelNode][]): ValueType {
    const fields = new Map<string, ValueType>();
    let isOpen = false;
    for (const [key, value] of entries) {
      const type = this.type(value);
      if (key.op === "value" && typeof key.args === "string") fields.set(key.args, type);
      else isOpen = true;
    }
    return isOpen ? ofKind(kind.map) : mapOfType(fields);
  }

  // ---- operators

  private mustBe(node: CelNode, kinds: number, what: string): ValueType {
    const type = this.type(node);
    if ((type.kinds & kinds) === 0 && type.kinds !== 0)
      this.mismatch(`${what} needs ${typeWords(ofKind(kinds))}, \`${textOf(node)}\` is ${typeWords(type)}`);
    return type;
  }

  private negated(type: ValueType): ValueType {
    return ofKind(type.kinds & (numeric | kind.duration) || numeric);
  }

  private logic(op: "&&" | "||", [left, right]: [CelNode, CelNode]): ValueType {
    const what = op === "&&" ? "`&&`" : "`||`";
    const a = knownTruth(this.mustBe(left, kind.bool, what));
    const b = knownTruth(this.mustBe(right, kind.bool, what));
    if (a === null && b === null) return bool;
    const decides = op === "||";
    if (a === decides || b === decides) return truth(decides);
    return a === null || b === null ? bool : truth(!decides);
  }

  private ternary([condition, yes, no]: [CelNode, CelNode, CelNode]): ValueType {
    this.mustBe(condition, kind.bool, "`?`");
    return join(this.type(yes), this.type(no));
  }

  private equality(node: CelNode): ValueType {
    const [left, right] = node.args as [CelNode, CelNode];
    const [a, b] = [this.type(left), this.type(right)];
    // Comparing with null asks whether there is something; that there always is, is no mistake.
    if (a.kinds === 0 || b.kinds === 0 || a.kinds === kind.null || b.kinds === kind.null) return bool;
    const equals = node.op === "==";
    if ((alike(a.kinds) & alike(b.kinds)) === 0) {
      this.mismatch(
        `\`${textOf(left)}\` is ${typeWords(a)} and \`${textOf(right)}\` is ${typeWords(b)}: they are never equal`,
      );
      return truth(!equals);
    }
    for (const [type, other, one] of [
      [a, b, left],
      [b, a, right],
    ] as const) {
      const [only] = other.values ?? [];
      if (typeof only !== "string" || other.values?.length !== 1 || other.kinds !== kind.string) continue;
      if (type.values === undefined || type.values.length < 2 || type.values.includes(only)) continue;
      const node = one === left ? right : left;
      this.scope.find({
        code: "type-mismatch",
        message: `\`${textOf(one)}\` is never '${only}': it is one of ${type.values.map((each) => `'${each}'`).join(", ")}`,
        ...(node.op === "value"
          ? {
              at: { start: node.start + 1, end: node.end - 1, written: only, known: type.values.map(String) },
            }
          : {}),
      });
      return truth(!equals);
    }
    return bool;
  }

  private comparison(node: CelNode): ValueType {
    const [left, right] = node.args as [CelNode, CelNode];
    const [a, b] = [this.type(left), this.type(right)];
    const ordered = alike(numeric) | kind.string | kind.timestamp | kind.duration | kind.bytes | kind.bool;
    if (a.kinds !== 0 && b.kinds !== 0 && (alike(a.kinds) & alike(b.kinds) & ordered) === 0) {
      this.mismatch(
        `\`${textOf(left)}\` is ${typeWords(a)} and \`${textOf(right)}\` is ${typeWords(b)}: \`${node.op}\` does not compare them`,
      );
    }
    return bool;
  }

  private membership([value, items]: [CelNode, CelNode]): ValueType {
    const sought = this.type(value);
    const type = this.mustBe(items, kind.list | kind.map | kind.string, "`in`");
    if (type.kinds === kind.list && type.item !== undefined && sought.kinds !== kind.null) {
      const { item } = type;
      if (item.kinds !== 0 && sought.kinds !== 0 && (alike(item.kinds) & alike(sought.kinds)) === 0) {
        this.mismatch(
          `\`${textOf(value)}\` is ${typeWords(sought)} and the items of \`${textOf(items)}\` are ${typeWords(item)}: it is never one of them`,
        );
        return truth(false);
      }
    }
    return bool;
  }

  private arithmetic(node: CelNode): ValueType {
    const [left, right] = node.args as [CelNode, CelNode];
    const [a, b] = [this.type(left), this.type(right)];
    if (isDyn(a) && isDyn(b)) return dyn;
    let kinds = 0;
    if ((a.kinds & numeric) !== 0 && (b.kinds & numeric) !== 0) kinds |= numberOf(a.kinds | b.kinds);
    let item: ValueType | undefined;
    const both = a.kinds & b.kinds;
    if (node.op === "+") {
      kinds |= both & (kind.string | kind.list | kind.bytes | kind.duration);
      if ((both & kind.list) !== 0 && a.item !== undefined && b.item !== undefined)
        item = join(a.item, b.item);
    }
    if (node.op === "+" || node.op === "-") {
      const timeAndSpan =
        ((a.kinds & kind.timestamp) !== 0 && (b.kinds & kind.duration) !== 0) ||
        (node.op === "+" && (a.kinds & kind.duration) !== 0 && (b.kinds & kind.timestamp) !== 0);
      if (timeAndSpan) kinds |= kind.timestamp;
    }
    if (node.op === "-") {
      if ((both & kind.timestamp) !== 0) kinds |= kind.duration;
      kinds |= both & kind.duration;
    }
    if (kinds === 0) {
      if (a.kinds !== 0 && b.kinds !== 0) {
        this.mismatch(
          `\`${textOf(left)}\` is ${typeWords(a)} and \`${textOf(right)}\` is ${typeWords(b)}: there is no \`${node.op}\` of them${a.kinds === kind.string || b.kinds === kind.string ? "; string(…) makes a text" : ""}`,
        );
      }
      return dyn;
    }
    return item === undefined ? ofKind(kinds) : { kinds, item };
  }

  // ---- calls

  private call(node: CelNode): ValueType {
    const [name, args] = node.args as [string, CelNode[]];
    if (name === "has") {
      const [asked] = args;
      if (asked?.op === "." && args.length === 1) this.field(asked, true);
      else this.scope.doubt();
      return bool;
    }
    const types = this.all(args);
    if (name === "In") {
      const [state] = args;
      if (args.length !== 1 || ((types[0]?.kinds ?? 0) & kind.string) === 0) this.scope.doubt();
      if (state?.op === "value" && typeof state.args === "string" && !this.scope.isState(state.args)) {
        this.scope.find({
          code: "unknown-state",
          message: `there is no state named "${state.args}" to be in`,
          at: {
            start: state.start + 1,
            end: state.end - 1,
            written: state.args,
            known: this.scope.stateNames(),
          },
        });
      }
      return bool;
    }
    if (name === "dyn") return dyn;
    return this.chosen(node, name, null, types, args);
  }

  private method(node: CelNode): ValueType {
    const [name, receiver, args] = node.args as [string, CelNode, CelNode[]];
    if (receiver.op === "id" && receiver.args === "cel" && name === "bind") {
      const [variable, value, body] = args;
      if (variable === undefined || value === undefined || body === undefined) {
        this.scope.doubt();
        return dyn;
      }
      return this.within(variable.args as string, this.type(value), () => this.type(body));
    }
    if (receiver.op === "id" && receiver.args === "math" && functionsNamed(name).some(isOf(args.length))) {
      this.all(args);
      return number;
    }
    const type = this.type(receiver);
    if (args[0]?.op === "id" && comprehensions.has(name))
      return this.comprehension(name, receiver, type, args);
    return this.chosen(node, name, type, this.all(args), args);
  }

  private comprehension(name: string, receiver: CelNode, type: ValueType, args: CelNode[]): ValueType {
    if ((type.kinds & (kind.list | kind.map)) === 0 && type.kinds !== 0)
      this.mismatch(`\`${name}\` goes through a list or map, \`${textOf(receiver)}\` is ${typeWords(type)}`);
    // Of a map the keys are visited.
    const items = (type.kinds & kind.list) === 0 ? nothing : (type.item ?? dyn);
    const item = join(items, (type.kinds & kind.map) === 0 ? nothing : string);
    const [variable, first, second] = args;
    if (variable === undefined || first === undefined || args.length > (name === "map" ? 3 : 2)) {
      this.scope.doubt();
      return dyn;
    }
    return this.within(variable.args as string, item.kinds === 0 ? dyn : item, () => {
      if (name === "map") {
        if (second === undefined) return listOfType(this.type(first));
        this.mustBe(first, kind.bool, "the condition of `map`");
        return listOfType(this.type(second));
      }
      this.mustBe(first, kind.bool, `the condition of \`${name}\``);
      return name === "filter" ? listOfType(item) : bool;
    });
  }

  /** What the overloads give that these arguments may choose. */
  private chosen(
    node: CelNode,
    name: string,
    receiver: ValueType | null,
    args: readonly ValueType[],
    nodes: readonly CelNode[],
  ): ValueType {
    let returns = nothing;
    let isKnown = false;
    for (const one of functionsNamed(name)) {
      if ((one.receiver === null) !== (receiver === null) || one.params.length !== args.length) continue;
      isKnown = true;
      if (meets(receiver, one.receiver) && args.every((arg, index) => meets(arg, one.params[index] ?? null)))
        returns = join(returns, one.returns);
    }
    if (returns.kinds !== 0) return returns;
    if (!isKnown) {
      this.scope.doubt();
      return dyn;
    }
    const given = args.map((arg, index) => `\`${textOf(nodes[index])}\` is ${typeWords(arg)}`);
    const owner =
      receiver === null ? [] : [`\`${textOf((node.args as CelNode[])[1])}\` is ${typeWords(receiver)}`];
    this.mismatch(`there is no such \`${name}()\`: ${[...owner, ...given].join(", ")}`);
    return dyn;
  }
}

const isOf =
  (count: number) =>
  ({ receiver, params }: Signature): boolean =>
    receiver !== null && params.length === count;

/** The one bool it can be; null: either. */
function knownTruth({ kinds, values }: ValueType): boolean | null {
  const only = kinds === kind.bool && values?.length === 1 ? values[0] : undefined;
  return typeof only === "boolean" ? only : null;
}

const comprehensions = new Set(["all", "exists", "exists_one", "map", "filter"]);

const meets = (given: ValueType | null, wanted: ValueType | null): boolean =>
  given === null || wanted === null || given.kinds === 0 || (given.kinds & wanted.kinds) !== 0;

/** Ints and doubles are compared by value. */
const alike = (kinds: number): number => ((kinds & numeric) === 0 ? kinds : kinds | numeric);

/** Two ints give an int; a double may be whole, and then is stored as an int. */
function numberOf(kinds: number): number {
  const numbers = kinds & numeric;
  return numbers === kind.int || numbers === kind.uint ? numbers : kind.int | kind.double;
}

function anyField({ fields, rest }: ValueType): ValueType {
  if (fields === undefined) return dyn;
  return [...fields.values()].reduce((all, one) => join(all, one), rest ?? nothing);
}

function literal(value: unknown): ValueType {
  switch (typeof value) {
    case "bigint":
      return int;
    case "number":
      // `2.0` is stored as an int.
      return Number.isInteger(value) ? number : ofKind(kind.double);
    case "string":
      return ofTexts([value]);
    case "boolean":
      return truth(value);
    default:
      if (value === null) return ofKind(kind.null);
      if (isUint(value)) return ofKind(kind.uint);
      return value instanceof Uint8Array ? ofKind(kind.bytes) : dyn;
  }
}

/** The part of the text that a node was read from, shortened for a message. */
function textOf(node: CelNode | undefined): string {
  if (node === undefined) return "";
  const text = node.input.slice(node.start, node.end);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
