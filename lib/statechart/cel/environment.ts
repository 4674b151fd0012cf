/**
 * The CEL environment every chart's expressions see: variables, `In()`, `set / unset / merge`, a few list, text and
 * math functions. No clock, no randomness, no host access.
 *
 * Handlers find their machine through `evaluating`, set by expression.ts around each (synchronous) evaluation.
 */
import { Environment } from "@marcbachmann/cel-js";
import type { Json } from "@/lib/base/json";
import { parseLocation, writeAt, readAt } from "../location";
import { charge, textMax } from "./budget";
import { EvaluationFailure } from "./evaluation-failure";
import { celTypeName, toCel, toJson, type CelValue } from "./view";

/** What an expression can see. An absent (undefined) variable is unknown to it. */
export interface Scope {
  readonly context: CelValue;
  readonly event: CelValue;
  readonly input: CelValue;
  readonly params: CelValue;
  readonly _event: CelValue;
  readonly _sessionid: CelValue;
  readonly _name: CelValue;
  readonly _ioprocessors: CelValue;
  isIn(name: string): boolean;
}

const variableNames = [
  "context",
  "event",
  "input",
  "params",
  "_event",
  "_sessionid",
  "_name",
  "_ioprocessors",
] as const;

/** Names a guard, or another author's name, may not take inside CEL. */
export const reservedNames: ReadonlySet<string> = new Set([
  ...variableNames,
  "_x",
  "In",
  "cel",
  "math",
  "has",
]);

/** Words that CEL's parser keeps for itself, which the library takes as no name. */
const celWords: ReadonlySet<string> = new Set([
  "as",
  "break",
  "const",
  "continue",
  "else",
  "for",
  "function",
  "if",
  "import",
  "let",
  "loop",
  "package",
  "namespace",
  "return",
  "var",
  "void",
  "while",
  "__proto__",
  "prototype",
]);

export const evaluating: { scope: Scope | null } = { scope: null };

let shared: Environment | null = null;

/** The environment; with named guards, an own one in which each is a bool variable. */
export function environmentWith(guardNames: readonly string[]): Environment {
  const environment = (shared ??= buildEnvironment());
  // A guard named as a word or a type of CEL is called by {type} alone.
  const usable = guardNames.filter(
    (name) =>
      /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) &&
      !reservedNames.has(name) &&
      !celWords.has(name) &&
      !environment.hasVariable(name),
  );
  if (usable.length === 0) return environment;
  const own = environment.clone();
  for (const name of usable) own.registerVariable(name, "bool");
  return own;
}

function buildEnvironment(): Environment {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    // A guard is a line or two; these bounds stop a hostile text long before the stack or the clock does.
    limits: {
      maxAstNodes: 5_000,
      maxDepth: 100,
      maxListElements: 1_000,
      maxMapEntries: 1_000,
      maxCallArguments: 32,
    },
  });
  for (const name of variableNames) environment.registerVariable(name, "dyn");
  const define = (signature: string, handler: (...values: never[]) => CelValue): void => {
    environment.registerFunction(
      signature,
      handler as (...values: unknown[]) => unknown,
      { async: false } as never,
    );
  };

  define("In(string): bool", (name: string) => evaluating.scope?.isIn(name) ?? false);

  define("set(dyn, string, dyn): dyn", (target: CelValue, path: string, value: CelValue) =>
    toCel(writeAt(mapOrList(target, "set"), locationOf(path), toJson(value))),
  );
  define("unset(dyn, string): dyn", (target: CelValue, path: string) => {
    const json = mapOrList(target, "unset");
    const location = locationOf(path);
    return readAt(json, location) === undefined ? toCel(json) : toCel(writeAt(json, location, undefined));
  });
  define("merge(dyn, dyn): dyn", (left: CelValue, right: CelValue) => {
    const [a, b] = [mapOrList(left, "merge"), mapOrList(right, "merge")];
    if (Array.isArray(a) || Array.isArray(b))
      throw new EvaluationFailure("bad-argument", "merge() takes two maps");
    charge(Object.keys(a as object).length + Object.keys(b as object).length);
    return toCel({ ...(a as object), ...(b as object) });
  });

  define("string.replace(string, string): string", (text: string, find: string, by: string) => {
    const parts = text.split(find);
    const length = text.length + (parts.length - 1) * (by.length - find.length);
    if (length > textMax)
      throw new EvaluationFailure("cost-exceeded", `a text grows beyond ${textMax} characters`);
    charge(parts.length);
    return parts.join(by);
  });
  define("string.charAt(int): string", (text: string, at: bigint) => text.charAt(Number(at)));
  define("list.reverse(): list<dyn>", (list: CelValue[]) => list.toReversed());
  define("list.slice(int, int): list<dyn>", (list: CelValue[], from: bigint, to: bigint) =>
    list.slice(Number(from), Number(to)),
  );

  class MathNamespace {}
  environment.registerType("MathNamespace", MathNamespace);
  environment.registerConstant("math", "MathNamespace", new MathNamespace());
  const wholeOr = (round: (value: number) => number) => (value: CelValue) =>
    typeof value === "bigint" ? value : round(numberOf(value));
  define("MathNamespace.abs(dyn): dyn", (_: unknown, value: CelValue) =>
    typeof value === "bigint" ? (value < 0n ? -value : value) : Math.abs(numberOf(value)),
  );
  for (const [name, round] of [
    ["ceil", Math.ceil],
    ["floor", Math.floor],
    ["trunc", Math.trunc],
    // Half away from zero, as CEL's math.round; Math.round takes −2.5 to −2.
    ["round", (value: number) => Math.sign(value) * Math.round(Math.abs(value))],
  ] as const) {
    const apply = wholeOr(round);
    define(`MathNamespace.${name}(dyn): dyn`, (_: unknown, value: CelValue) => apply(value));
  }
  const pick =
    (better: (a: number | bigint, b: number | bigint) => boolean) =>
    (_: unknown, a: CelValue, b: CelValue) => (better(numeric(b), numeric(a)) ? b : a);
  define(
    "MathNamespace.least(dyn, dyn): dyn",
    pick((a, b) => a < b),
  );
  define(
    "MathNamespace.greatest(dyn, dyn): dyn",
    pick((a, b) => a > b),
  );
  return environment;
}

function mapOrList(value: CelValue, name: string): Json {
  const json = toJson(value);
  if (typeof json === "object" && json !== null) return json;
  throw new EvaluationFailure("bad-argument", `${name}() needs a map or list, found ${celTypeName(value)}`);
}

/** Unlike an assignment's location, a path in `set()` may start with an index: the value may be a list. */
function locationOf(path: string): readonly (string | number)[] {
  const location = path.startsWith("[") ? parseLocation(`x${path}`)?.slice(1) : parseLocation(path);
  if (location !== undefined && location !== null && location.length > 0) return location;
  throw new EvaluationFailure("bad-location", `"${path}" is not a path`);
}

function numeric(value: CelValue): number | bigint {
  if (typeof value === "bigint" || typeof value === "number") return value;
  throw new EvaluationFailure("bad-argument", `needs a number, found ${celTypeName(value)}`);
}
const numberOf = (value: CelValue): number => Number(numeric(value));
