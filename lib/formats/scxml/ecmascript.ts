/**
 * An ECMAScript expression, parsed and never evaluated, as CEL over `context`.
 *
 * The subset: literals (lists and objects too), `+ - * / %`, comparisons, `== != === !==` (as CEL equality), `&& || !`,
 * `?:`, member and index access, `In()`, `typeof x === 'undefined'`.
 *
 * Holds: where values of mixed type would behave differently from ECMAScript the CEL fails instead of giving another
 *        value. Hence `a && b` becomes `a ? b : false` where a failing `a` would be swallowed by CEL's `&&`; a value used
 *        as a condition is compared with ECMAScript's false ones unless it can only be a bool; text + value converts.
 */
import { parseExpressionAt, type Expression, type Node, type PrivateIdentifier, type Super } from "acorn";
import type { Json, JsonObject } from "@/lib/base/json";
import { celLiteral, celString } from "../literal";
import { celNumber, celSelect } from "./cel-text";
import type { RootTypes, ValueType } from "./root-types";

export type Translation =
  /** `literal` where the expression is plain data. */
  | { kind: "cel"; cel: string; literal: Json | undefined; types: ReadonlySet<ValueType> | "any" }
  /** ECMAScript, but outside the subset. */
  | { kind: "unsupported"; reason: string }
  /** Not an ECMAScript expression. */
  | { kind: "illegal" };

export interface TranslationOptions {
  context: "value" | "bool";
  types: RootTypes;
  /** `_event` is certainly set. */
  eventBound: boolean;
}

// Longer texts are generated programs; a chart's expressions are lines.
const textCharsMax = 8_000;
const repeatedCharsMax = 2_000;

export function translateEcmaScript(text: string, options: TranslationOptions): Translation {
  if (text.length > textCharsMax)
    return { kind: "unsupported", reason: `it is longer than ${textCharsMax} characters` };
  let node: Expression;
  try {
    node = parseExpressionAt(text, 0, { ecmaVersion: 2022 });
    if (!/^\s*$/.test(text.slice(node.end).replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, "")))
      return { kind: "illegal" };
  } catch (error) {
    // Nesting that exhausts acorn's stack may be legal ECMAScript, only none that people write.
    const tooDeep = error instanceof RangeError || /stack space/.test(String(error));
    return tooDeep ? { kind: "unsupported", reason: "it is nested too deep" } : { kind: "illegal" };
  }
  try {
    const literal = literalOf(node);
    const translator = new Translator(options);
    const term = options.context === "bool" ? translator.condition(node) : translator.value(node);
    return { kind: "cel", cel: term.text, literal, types: term.types };
  } catch (error) {
    if (error instanceof Unsupported) return { kind: "unsupported", reason: error.message };
    if (error instanceof RangeError) return { kind: "unsupported", reason: "it is nested too deep" };
    throw error;
  }
}

class Unsupported extends Error {}

/** CEL's precedences, low to high. */
const level = { ternary: 0, or: 1, and: 2, relation: 3, sum: 4, product: 5, unary: 6, member: 7 } as const;
type Level = (typeof level)[keyof typeof level];

interface Term {
  text: string;
  level: Level;
  types: ReadonlySet<ValueType> | "any";
  /** ECMAScript itself may throw here. */
  throws: boolean;
  /** The value may be NaN, which only arithmetic gives. */
  nan?: boolean;
}

type AnyNode = Expression | PrivateIdentifier | Super | Node;

const only = (...types: ValueType[]): ReadonlySet<ValueType> => new Set(types);
const isOnly = (term: Term, type: ValueType): boolean =>
  term.types !== "any" && term.types.size === 1 && term.types.has(type);
const systemVariables = new Set(["_event", "_sessionid", "_name", "_ioprocessors"]);
const relations: Readonly<Record<string, string>> = { "==": "==", "===": "==", "!=": "!=", "!==": "!=" };

class Translator {
  constructor(private readonly options: TranslationOptions) {}

  /** As a value. */
  value(node: AnyNode): Term {
    const literal = literalOf(node);
    if (literal !== undefined) return literalTerm(literal);
    const expression = node as Expression;
    switch (expression.type) {
      case "Identifier":
        return this.identifier(expression.name);
      case "MemberExpression":
        return this.member(expression);
      case "CallExpression":
        return this.call(expression);
      case "UnaryExpression":
        return this.unary(expression.operator, expression.argument);
      case "BinaryExpression":
        return this.binary(expression.operator, expression.left, expression.right);
      case "LogicalExpression":
        return this.logical(expression.operator, expression.left, expression.right, "value");
      case "ConditionalExpression":
        return this.ternary(
          this.condition(expression.test),
          this.value(expression.consequent),
          this.value(expression.alternate),
        );
      case "ArrayExpression":
        return this.list(expression.elements);
      case "ObjectExpression":
        return this.map(expression.properties);
      default:
        throw new Unsupported(`${describe(expression.type)} are not translated`);
    }
  }

  /** As a condition: ECMAScript's ToBoolean. */
  condition(node: AnyNode): Term {
    const literal = literalOf(node);
    if (literal !== undefined) return literalTerm(Boolean(literal));
    const expression = node as Expression;
    if (expression.type === "LogicalExpression" && expression.operator !== "??")
      return this.logical(expression.operator, expression.left, expression.right, "bool");
    if (expression.type === "ConditionalExpression")
      return this.ternary(
        this.condition(expression.test),
        this.condition(expression.consequent),
        this.condition(expression.alternate),
      );
    const term = this.value(node);
    if (isOnly(term, "bool")) return term;
    const throws = term.throws;
    if (isOnly(term, "number") && term.nan !== undefined) {
      const number = at(term, level.sum);
      return term.nan
        ? { text: `${number} < 0 || ${number} > 0`, level: level.or, types: only("bool"), throws }
        : { text: `${number} != 0`, level: level.relation, types: only("bool"), throws };
    }
    if (term.nan === true) throw new Unsupported("a sum that may be NaN is not translated as a condition");
    // ECMAScript: every value but these (and NaN, which is no value of a chart) is true.
    return {
      text: `!(${at(term, level.sum)} in [null, false, 0, ''])`,
      level: level.unary,
      types: only("bool"),
      throws: term.throws,
    };
  }

  private identifier(name: string): Term {
    if (name === "undefined") return literalTerm(null);
    if (name === "NaN" || name === "Infinity") throw new Unsupported(`${name} is no value of a chart`);
    if (name === "_event")
      return { text: name, level: level.member, types: only("other", "null"), throws: false };
    if (name === "_sessionid" || name === "_name")
      return { text: name, level: level.member, types: only("string"), throws: false };
    if (name === "_ioprocessors")
      return { text: name, level: level.member, types: only("other"), throws: false };
    const { types } = this.options;
    return {
      text: celSelect("context", name),
      level: level.member,
      types: types.of(name),
      throws: !types.isDeclared(name),
    };
  }

  private member(node: Extract<Expression, { type: "MemberExpression" }>): Term {
    if (node.optional) throw new Unsupported("optional chaining is not translated");
    const object = this.value(node.object);
    const base = at(object, level.member);
    // Reading from null or undefined throws; the system variables never are, and _event only before the first event.
    const system = node.object.type === "Identifier" && systemVariables.has(node.object.name);
    const throws = object.throws || !system || (base === "_event" && !this.options.eventBound);
    const known = base === "_event" ? eventFieldTypes(propertyName(node)) : "any";
    const name = propertyName(node);
    if (name !== null) {
      if (name === "length" && !system)
        return {
          text: `type(${object.text}) == list ? size(${object.text}) : ${celSelect(base, name)}`,
          level: level.ternary,
          types: "any",
          throws,
        };
      return { text: celSelect(base, name), level: level.member, types: known, throws };
    }
    const index = this.value(node.property);
    return {
      text: `${base}[${index.text}]`,
      level: level.member,
      types: "any",
      throws: throws || index.throws,
    };
  }

  private call(node: Extract<Expression, { type: "CallExpression" }>): Term {
    const [argument] = node.arguments;
    if (
      node.callee.type !== "Identifier" ||
      node.callee.name !== "In" ||
      node.arguments.length !== 1 ||
      argument === undefined
    )
      throw new Unsupported("calls of functions other than In() are not translated");
    if (argument.type === "SpreadElement") throw new Unsupported("spread arguments are not translated");
    const name = this.value(argument);
    return { text: `In(${name.text})`, level: level.member, types: only("bool"), throws: name.throws };
  }

  private unary(operator: string, argument: Expression): Term {
    if (operator === "!") {
      const term = this.condition(argument);
      if (term.text.startsWith("!(") && term.level === level.unary)
        return { ...term, text: term.text.slice(2, -1), level: level.relation };
      return {
        text: `!${at(term, level.unary)}`,
        level: level.unary,
        types: only("bool"),
        throws: term.throws,
      };
    }
    if (operator === "-") {
      const term = this.value(argument);
      return {
        text: `-${at(term, level.member)}`,
        level: level.unary,
        types: only("number"),
        throws: term.throws,
        nan: term.nan === true,
      };
    }
    throw new Unsupported(`\`${operator}\` is not translated`);
  }

  private binary(operator: string, left: AnyNode, right: AnyNode): Term {
    const test = this.undefinedTest(operator, left, right) ?? this.undefinedTest(operator, right, left);
    if (test !== null) return test;
    const a = this.value(left);
    const b = this.value(right);
    const throws = a.throws || b.throws;
    // Of other objects ECMAScript would find what they inherit too.
    if (operator === "in" && isOnly(a, "string") && b.text === "_event")
      return {
        text: `${at(a, level.sum)} in _event`,
        level: level.relation,
        types: only("bool"),
        throws: !this.options.eventBound,
      };
    // 0/0 and x % 0 are NaN; the rest only passes it on.
    const divisor = literalOf(right);
    const divides = operator === "/" || operator === "%";
    const nan =
      a.nan === true || b.nan === true || (divides && !(typeof divisor === "number" && divisor !== 0));
    switch (operator) {
      case "+":
        return this.plus(a, b, nan);
      case "-":
      case "*":
      case "%": {
        const own = operator === "-" ? level.sum : level.product;
        return {
          text: `${at(a, own)} ${operator} ${at(b, above(own))}`,
          level: own,
          types: only("number"),
          throws,
          nan,
        };
      }
      case "/":
        // ECMAScript has no integer division.
        return {
          text: `double(${a.text}) / double(${b.text})`,
          level: level.product,
          types: only("number"),
          throws,
          nan,
        };
      case "<":
      case "<=":
      case ">":
      case ">=":
        return {
          text: `${at(a, level.sum)} ${operator} ${at(b, level.sum)}`,
          level: level.relation,
          types: only("bool"),
          throws,
        };
      default: {
        const cel = relations[operator];
        if (cel === undefined) throw new Unsupported(`\`${operator}\` is not translated`);
        const [left, right] = operator.length === 2 ? comparable(a, b) : [a, b];
        return {
          text: `${at(left, level.sum)} ${cel} ${at(right, level.sum)}`,
          level: level.relation,
          types: only("bool"),
          throws,
        };
      }
    }
  }

  private plus(a: Term, b: Term, nan: boolean): Term {
    const throws = a.throws || b.throws;
    if (isOnly(a, "other") && isOnly(b, "other"))
      throw new Unsupported("`+` of lists or objects is text in ECMAScript and not translated");
    if (isOnly(a, "string") || isOnly(b, "string")) {
      // Text + value: ECMAScript converts; string() gives the same for numbers and bools and fails on the rest.
      const [left, right] = [a, b].map((term) =>
        isOnly(term, "string") ? term : { ...term, text: `string(${term.text})`, level: level.member },
      ) as [Term, Term];
      return {
        text: `${at(left, level.sum)} + ${at(right, level.product)}`,
        level: level.sum,
        types: only("string"),
        throws,
      };
    }
    const number = isOnly(a, "number") && isOnly(b, "number");
    const types = number ? only("number") : only("number", "string", "other");
    return { text: `${at(a, level.sum)} + ${at(b, level.product)}`, level: level.sum, types, throws, nan };
  }

  private logical(operator: string, left: Expression, right: Expression, context: "value" | "bool"): Term {
    if (operator !== "&&" && operator !== "||") throw new Unsupported(`\`${operator}\` is not translated`);
    const [a, b] =
      context === "bool"
        ? [this.condition(left), this.condition(right)]
        : [this.value(left), this.value(right)];
    if (context === "value" && !isOnly(a, "bool")) {
      // The side that decides is the value; a long chain repeats its beginnings.
      if (a.text.length > repeatedCharsMax) throw new Unsupported("a chain this long is not translated");
      const test = this.condition(left);
      return operator === "&&" ? this.ternary(test, b, a) : this.ternary(test, a, b);
    }
    const throws = a.throws || b.throws;
    const bool = isOnly(a, "bool") && isOnly(b, "bool") ? only("bool") : "any";
    // CEL's && and || swallow the failure of one side where the other decides; and they want bools.
    if (a.throws || !isOnly(a, "bool"))
      return operator === "&&"
        ? { ...this.ternary(a, b, literalTerm(false)), types: bool, throws }
        : { ...this.ternary(a, literalTerm(true), b), types: bool, throws };
    const own = operator === "&&" ? level.and : level.or;
    return { text: `${at(a, own)} ${operator} ${at(b, above(own))}`, level: own, types: bool, throws };
  }

  private ternary(test: Term, yes: Term, no: Term): Term {
    const types = yes.types === "any" || no.types === "any" ? "any" : new Set([...yes.types, ...no.types]);
    return {
      text: `${at(test, level.or)} ? ${at(yes, level.or)} : ${at(no, level.ternary)}`,
      level: level.ternary,
      types,
      throws: test.throws || yes.throws || no.throws,
    };
  }

  private list(elements: readonly (AnyNode | null)[]): Term {
    const terms = elements.map((element) => {
      if (element === null || element.type === "SpreadElement")
        throw new Unsupported("holes and spreads are not translated");
      return this.value(element);
    });
    return {
      text: `[${terms.map((term) => term.text).join(", ")}]`,
      level: level.member,
      types: only("other"),
      throws: terms.some((term) => term.throws),
    };
  }

  private map(properties: Extract<Expression, { type: "ObjectExpression" }>["properties"]): Term {
    let throws = false;
    const fields = properties.map((property) => {
      const key = property.type === "Property" ? keyOf(property) : null;
      if (property.type !== "Property" || key === null || property.kind !== "init" || property.method)
        throw new Unsupported("computed keys, methods and spreads are not translated");
      const term = this.value(property.value);
      throws ||= term.throws;
      return `${celString(key)}: ${term.text}`;
    });
    return { text: `{${fields.join(", ")}}`, level: level.member, types: only("other"), throws };
  }

  /** `typeof x === 'undefined'` and its kin; a declared name without a value is null here. */
  private undefinedTest(operator: string, left: AnyNode, right: AnyNode): Term | null {
    const relation = relations[operator];
    if (relation === undefined || left.type !== "UnaryExpression") return null;
    const unary = left as Extract<Expression, { type: "UnaryExpression" }>;
    if (unary.operator !== "typeof") return null;
    if (literalOf(right) !== "undefined")
      throw new Unsupported("typeof is translated only where it is compared with 'undefined'");
    const { argument } = unary;
    const equal = relation === "==";
    if (argument.type === "Identifier" && systemVariables.has(argument.name))
      return {
        text: `${argument.name} ${relation} null`,
        level: level.relation,
        types: only("bool"),
        throws: false,
      };
    const term =
      argument.type === "MemberExpression"
        ? this.member(argument)
        : argument.type === "Identifier"
          ? this.identifier(argument.name)
          : null;
    const name = argument.type === "MemberExpression" ? propertyName(argument) : null;
    if (
      term === null ||
      (argument.type === "MemberExpression" && (name === null || term.level !== level.member))
    )
      throw new Unsupported("typeof is translated only of names and members");
    // typeof of an undeclared name does not throw, of a member of nothing it does.
    const throws = argument.type === "MemberExpression" && term.throws;
    const always =
      argument.type === "Identifier" ? this.options.types.isDeclared(argument.name) : isEventField(argument);
    if (always)
      return { text: `${term.text} ${relation} null`, level: level.relation, types: only("bool"), throws };
    const has = hasTest(term.text);
    return equal
      ? { text: `!${has} || ${term.text} == null`, level: level.or, types: only("bool"), throws }
      : { text: `${has} && ${term.text} != null`, level: level.and, types: only("bool"), throws };
  }
}

/**
 * `==` between values whose types are known to differ converts both to numbers in ECMAScript (`'1' == 1`); a text that is no
 * number fails here. Lists, objects and values of unknown type are compared as in CEL.
 */
function comparable(a: Term, b: Term): [Term, Term] {
  const [left, right] = [primitiveOf(a), primitiveOf(b)];
  if (left === null || right === null || left === right) return [a, b];
  if (left === "other" || right === "other") return [a, b];
  return [asNumber(a, left), asNumber(b, right)];
}

function primitiveOf(term: Term): ValueType | null {
  if (term.types === "any" || term.types.size !== 1 || term.types.has("null")) return null;
  const [type] = term.types;
  return type ?? null;
}

function asNumber(term: Term, type: ValueType): Term {
  if (type === "number") return term;
  if (type === "bool") return { ...term, text: `(${term.text} ? 1 : 0)`, level: level.member };
  return { ...term, text: `double(${term.text})`, level: level.member };
}

/** CEL's has() takes `a.b`; for `a['b']` the key is looked for in the map. */
function hasTest(text: string): string {
  const bracket = /^(.*)\[('(?:[^'\\]|\\.)*')\]$/s.exec(text);
  return bracket === null ? `has(${text})` : `(${bracket[2]} in ${bracket[1]})`;
}

const eventFields: Readonly<Record<string, readonly ValueType[]>> = {
  name: ["string"],
  type: ["string"],
  sendid: ["string", "null"],
  origin: ["string", "null"],
  origintype: ["string", "null"],
  invokeid: ["string", "null"],
};

function eventFieldTypes(name: string | null): ReadonlySet<ValueType> | "any" {
  const types = name !== null && Object.hasOwn(eventFields, name) ? eventFields[name] : undefined;
  return types === undefined ? "any" : new Set(types);
}

/** `_event.data` and its kin exist on every event, null for none. */
function isEventField(node: Expression): boolean {
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier" || node.object.name !== "_event")
    return false;
  const name = propertyName(node);
  return name === "data" || (name !== null && Object.hasOwn(eventFields, name));
}

function propertyName(node: Extract<Expression, { type: "MemberExpression" }>): string | null {
  if (!node.computed) return node.property.type === "Identifier" ? node.property.name : null;
  const literal = literalOf(node.property);
  return typeof literal === "string" ? literal : null;
}

function keyOf(property: { key: Node; computed: boolean }): string | null {
  if (property.computed) return null;
  const key = property.key as Expression;
  if (key.type === "Identifier") return key.name === "__proto__" ? null : key.name;
  const literal = literalOf(key);
  const name = typeof literal === "string" || typeof literal === "number" ? String(literal) : null;
  return name === "__proto__" ? null : name;
}

/** The JSON of an expression made of literals alone, else undefined. */
function literalOf(node: AnyNode): Json | undefined {
  const expression = node as Expression;
  switch (expression.type) {
    case "Literal": {
      const { value } = expression;
      return value === null && expression.raw !== "null"
        ? undefined
        : typeof value === "string" ||
            typeof value === "number" ||
            typeof value === "boolean" ||
            value === null
          ? finite(value)
          : undefined;
    }
    case "TemplateLiteral": {
      const [quasi] = expression.quasis;
      return expression.expressions.length === 0 ? (quasi?.value.cooked ?? undefined) : undefined;
    }
    case "UnaryExpression": {
      const value = expression.operator === "-" ? literalOf(expression.argument) : undefined;
      return typeof value === "number" ? -value : undefined;
    }
    case "ArrayExpression": {
      const items: Json[] = [];
      for (const element of expression.elements) {
        const item = element === null || element.type === "SpreadElement" ? undefined : literalOf(element);
        if (item === undefined) return undefined;
        items.push(item);
      }
      return items;
    }
    case "ObjectExpression": {
      const object: JsonObject = {};
      for (const property of expression.properties) {
        if (property.type !== "Property" || property.kind !== "init" || property.method) return undefined;
        const key = keyOf(property);
        const item = key === null ? undefined : literalOf(property.value);
        if (key === null || item === undefined) return undefined;
        object[key] = item;
      }
      return object;
    }
    default:
      return undefined;
  }
}

const finite = (value: string | number | boolean | null): Json | undefined =>
  typeof value === "number" && !Number.isFinite(value) ? undefined : value;

function literalTerm(literal: Json): Term {
  const base = { level: level.member, throws: false } as const;
  if (typeof literal === "number")
    return {
      ...base,
      text: celNumber(literal),
      level: literal < 0 ? level.unary : level.member,
      types: only("number"),
    };
  if (typeof literal === "string") return { ...base, text: celString(literal), types: only("string") };
  if (typeof literal === "boolean") return { ...base, text: String(literal), types: only("bool") };
  return { ...base, text: celLiteral(literal), types: only(literal === null ? "null" : "other") };
}

/** The term's text, in parentheses where its operator binds looser than `needed`. */
const at = (term: Term, needed: Level): string => (term.level < needed ? `(${term.text})` : term.text);
const above = (own: Level): Level => (own + 1) as Level;

function describe(type: string): string {
  if (type === "NewExpression") return "`new` expressions";
  if (/Function/.test(type)) return "functions";
  if (type === "AssignmentExpression" || type === "UpdateExpression") return "assignments inside expressions";
  return `expressions of the kind ${type}`;
}
