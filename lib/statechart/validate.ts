/**
 * An unknown value checked against the lockstep/1 document: the one gate between foreign JSON and a Chart.
 *
 * Holds: bounded time and depth; every problem names the state and the field; a key or setting that lockstep/1 does not
 *        know is an error; what passes is safe to walk recursively (no `__proto__`, no deep nesting, no "#" in names).
 * Does not: look at meaning (targets, CEL, reachability): diagnose.ts.
 */
import type { Chart } from "./document";
import type { JsonObject } from "@/lib/base/json";
import type { Diagnostic } from "./diagnostic";
import { nearName } from "./near-name";

export const chartBounds = {
  // Deeper charts cannot be drawn, let alone read; recursion over a chart stays far from any stack limit.
  depthMax: 50,
  statesMax: 5_000,
  // Of plain JSON inside the chart (context, meta, params, and actions inside actions).
  nestingMax: 100,
  valuesMax: 500_000,
  problemsMax: 200,
};

export function validateChart(value: unknown): { chart: Chart | null; diagnostics: Diagnostic[] } {
  const validator = new Validator();
  validator.chart(value);
  const { diagnostics } = validator;
  return {
    chart: diagnostics.some((one) => one.severity === "error") ? null : (value as Chart),
    diagnostics,
  };
}

type Check = (value: unknown, path: string, validator: Validator) => void;
/** Field → check; a field with `!` must be there. */
type Shape = Record<string, Check>;

/** Thrown to stop after too much; what was found so far is reported. */
class Enough extends Error {}

class Validator {
  readonly diagnostics: Diagnostic[] = [];
  private state = "";
  private states = 0;
  private values = 0;
  private nesting = 0;

  chart(value: unknown): void {
    try {
      if (!this.object(value, "")) return;
      if (value.lockstep !== 1) {
        this.problem(
          "not-lockstep",
          "lockstep",
          "the document has no `lockstep: 1`: it is not a lockstep/1 chart",
        );
        return;
      }
      this.stateNode(value, [], true);
    } catch (error) {
      if (!(error instanceof Enough)) throw error;
    }
  }

  /** `edit`: without the state, which is this one. */
  problem(code: string, field: string, message: string, fix?: { title: string; edit: JsonObject }): void {
    this.diagnostics.push({
      code,
      severity: "error",
      at: { state: this.state, ...(field === "" ? {} : { field }) },
      message,
      ...(fix === undefined ? {} : { fix: { ...fix, edit: { ...fix.edit, state: this.state } } }),
    });
    if (this.diagnostics.length >= chartBounds.problemsMax) {
      throw new Enough("more problems than anyone reads at once");
    }
  }

  /** True for an object; spends from the bounds and refuses `__proto__`. */
  object(value: unknown, path: string): value is Record<string, unknown> {
    this.spend(path);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.problem("bad-shape", path, `${where(path)} must be an object, found ${kindOf(value)}`);
      return false;
    }
    if (Object.hasOwn(value, "__proto__")) {
      this.problem("bad-key", path, `${where(path)} has a key \`__proto__\`: rename it`);
      return false;
    }
    return true;
  }

  spend(path: string): void {
    if (++this.values > chartBounds.valuesMax) {
      this.problem("too-large", path, `the chart holds more than ${chartBounds.valuesMax} values`);
      throw new Enough();
    }
  }

  nested(path: string, inside: () => void): void {
    if (++this.nesting > chartBounds.nestingMax) {
      this.problem("too-deep", path, `${where(path)} is nested deeper than ${chartBounds.nestingMax} levels`);
      throw new Enough();
    }
    inside();
    this.nesting--;
  }

  shape(value: unknown, path: string, shape: Shape): void {
    if (!this.object(value, path)) return;
    this.nested(path, () => {
      for (const [key, check] of Object.entries(shape)) {
        const required = key.endsWith("!");
        const name = required ? key.slice(0, -1) : key;
        const item = Object.hasOwn(value, name) ? value[name] : undefined;
        if (item !== undefined) check(item, join(path, name), this);
        else if (required)
          this.problem("missing-field", join(path, name), `${where(path)} needs \`${name}\``);
      }
      for (const key of Object.keys(value)) {
        if (!Object.hasOwn(shape, key) && !Object.hasOwn(shape, `${key}!`)) {
          const field = join(path, key);
          const meant = meantKey(key, shape);
          this.problem(
            "unknown-key",
            field,
            `${where(path)} has an unknown key \`${key}\`${meant === null ? `: allowed are ${keysOf(shape).join(", ")}` : `: did you mean \`${meant}\`?`}`,
            meant === null || Object.hasOwn(value, meant)
              ? undefined
              : { title: `Rename to ${meant}`, edit: { rename: field, to: meant } },
          );
        }
      }
    });
  }

  stateNode(value: unknown, keys: string[], root = false): void {
    const outer = this.state;
    if (++this.states > chartBounds.statesMax) {
      this.problem("too-large", "states", `the chart has more than ${chartBounds.statesMax} states`);
      throw new Enough();
    }
    if (keys.length > chartBounds.depthMax) {
      this.problem("too-deep", "states", `states are nested deeper than ${chartBounds.depthMax} levels`);
      throw new Enough();
    }
    if (!this.object(value, "")) return;
    const id = Object.hasOwn(value, "id") ? value.id : undefined;
    this.state = typeof id === "string" ? id : keys.join(".");
    this.shape(value, "", root ? { ...chartShape } : stateShape);
    const states = Object.hasOwn(value, "states") ? value.states : undefined;
    if (states !== undefined && this.object(states, "states")) {
      for (const [key, child] of Object.entries(states)) {
        this.key(key, child);
        this.stateNode(child, [...keys, key]);
      }
    }
    this.state = outer;
  }

  private key(key: string, child: unknown): void {
    const path = join("states", key);
    if (key === "") this.problem("bad-name", path, "a state's key is empty: give it a name");
    if (key.includes("#"))
      this.problem("bad-name", path, `the state key "${key}" holds "#", which addresses use`);
    const hasId = typeof child === "object" && child !== null && Object.hasOwn(child, "id");
    if (key.includes(".") && !hasId) {
      const id = key.includes("#") ? null : key;
      this.problem(
        "dotted-key",
        path,
        `the state key "${key}" holds a dot: give the state an \`id\``,
        id === null ? undefined : { title: `Give it the id ${id}`, edit: { set: `${path}/id`, to: id } },
      );
    }
  }
}

// ---- the document's shapes

const text: Check = (value, path, v) => {
  v.spend(path);
  if (typeof value !== "string")
    v.problem("bad-shape", path, `${where(path)} must be a text, found ${kindOf(value)}`);
};
const name: Check = (value, path, v) => {
  text(value, path, v);
  if (typeof value === "string" && value.includes("#")) {
    v.problem("bad-name", path, `the name "${value}" holds "#", which addresses use`);
  }
  if (value === "") v.problem("bad-name", path, `${where(path)} is empty`);
  if (value === "__proto__") v.problem("bad-name", path, `${where(path)} cannot be \`__proto__\``);
};
const bool: Check = (value, path, v) => {
  v.spend(path);
  if (typeof value !== "boolean")
    v.problem("bad-shape", path, `${where(path)} must be true or false, found ${kindOf(value)}`);
};
const whole: Check = (value, path, v) => {
  v.spend(path);
  if (!Number.isSafeInteger(value))
    v.problem("bad-shape", path, `${where(path)} must be a whole number, found ${kindOf(value)}`);
};
const number: Check = (value, path, v) => {
  v.spend(path);
  if (typeof value !== "number" || !Number.isFinite(value)) {
    v.problem("bad-shape", path, `${where(path)} must be a number, found ${kindOf(value)}`);
  }
};
const oneOf =
  (...allowed: string[]): Check =>
  (value, path, v) => {
    v.spend(path);
    if (typeof value === "string" && allowed.includes(value)) return;
    const meant = typeof value === "string" ? nearName(value, allowed) : null;
    v.problem(
      "bad-shape",
      path,
      `${where(path)} must be ${allowed.map((one) => `"${one}"`).join(" or ")}`,
      meant === null ? undefined : { title: `Use ${meant}`, edit: { set: path, to: meant } },
    );
  };
const list =
  (check: Check): Check =>
  (value, path, v) => {
    v.spend(path);
    if (!Array.isArray(value))
      v.problem("bad-shape", path, `${where(path)} must be a list, found ${kindOf(value)}`);
    else v.nested(path, () => value.forEach((item, index) => check(item, join(path, index), v)));
  };
const oneOrMany =
  (check: Check): Check =>
  (value, path, v) => {
    if (Array.isArray(value)) list(check)(value, path, v);
    else check(value, path, v);
  };
const recordOf =
  (check: Check): Check =>
  (value, path, v) => {
    if (!v.object(value, path)) return;
    v.nested(path, () => {
      for (const [key, item] of Object.entries(value)) check(item, join(path, key), v);
    });
  };
const shaped =
  (shape: Shape): Check =>
  (value, path, v) =>
    v.shape(value, path, shape);

/** Any JSON; its depth and size are bounded, numbers finite. */
const json: Check = (value, path, v) => {
  if (typeof value === "number") number(value, path, v);
  else if (Array.isArray(value)) list(json)(value, path, v);
  else if (typeof value === "object" && value !== null) recordOf(json)(value, path, v);
  else {
    v.spend(path);
    if (value !== null && typeof value !== "string" && typeof value !== "boolean") {
      v.problem("not-json", path, `${where(path)} is not JSON: found ${kindOf(value)}`);
    }
  }
};
const jsonObject: Check = (value, path, v) => {
  if (v.object(value, path)) json(value, path, v);
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const has = (value: unknown, key: string): boolean => isObject(value) && Object.hasOwn(value, key);

const placeholder: Check = shaped({ "placeholder!": text, text: text });
const orPlaceholder =
  (check: Check): Check =>
  (value, path, v) =>
    (has(value, "placeholder") ? placeholder : check)(value, path, v);

const textOrCel: Check = (value, path, v) =>
  (isObject(value) ? shaped({ "cel!": text }) : text)(value, path, v);
const delay: Check = orPlaceholder((value, path, v) =>
  (typeof value === "number" ? number : text)(value, path, v),
);

const guard: Check = orPlaceholder((value, path, v) => {
  if (typeof value === "string") return v.spend(path);
  if (has(value, "type")) return v.shape(value, path, { "type!": text, params: json });
  if (has(value, "and")) return v.shape(value, path, { "and!": list(guard) });
  if (has(value, "or")) return v.shape(value, path, { "or!": list(guard) });
  if (has(value, "not")) return v.shape(value, path, { "not!": guard });
  if (has(value, "in")) return v.shape(value, path, { "in!": text });
  v.problem(
    "bad-shape",
    path,
    `${where(path)} must be CEL, a guard's name, {type}, {and}, {or}, {not}, {in} or {placeholder}`,
  );
});

const raised: Shape = { "type!": textOrCel, data: json, delay, id: textOrCel };
const kindsOfAction: Record<string, Shape> = {
  assign: { "assign!": recordOf(json) },
  raise: { "raise!": shaped(raised) },
  send: { "send!": shaped({ ...raised, to: textOrCel, idLocation: text }) },
  cancel: { "cancel!": textOrCel },
  emit: { "emit!": shaped({ "type!": textOrCel, data: json }) },
  log: { "log!": json, label: text },
  if: {
    "if!": guard,
    "then!": (value, path, v) => actions(value, path, v),
    else: (value, path, v) => actions(value, path, v),
  },
  foreach: {
    "foreach!": shaped({
      "in!": json,
      "item!": text,
      index: text,
      "do!": (value, path, v) => actions(value, path, v),
    }),
  },
  compensate: { "compensate!": bool },
  block: { "block!": (value, path, v) => actions(value, path, v) },
  type: { "type!": text, params: json },
};
const action: Check = orPlaceholder((value, path, v) => {
  if (typeof value === "string") return v.spend(path);
  const kind = Object.keys(kindsOfAction).find((one) => has(value, one));
  const shape = kind === undefined ? undefined : kindsOfAction[kind];
  if (shape !== undefined) return v.shape(value, path, shape);
  v.problem(
    "bad-shape",
    path,
    `${where(path)} must be an action's name or one of ${Object.keys(kindsOfAction).join(", ")}, found ${kindOf(value)}`,
  );
});
const actions: Check = oneOrMany(action);

const targets: Check = oneOrMany(text);
const transition: Check = (value, path, v) => {
  if (typeof value === "string") return v.spend(path);
  v.shape(value, path, {
    order: whole,
    target: targets,
    guard,
    actions,
    reenter: bool,
    description: text,
    meta: json,
  });
};
const transitions = oneOrMany(transition);
const arrow: Check = (value, path, v) => {
  if (isObject(value)) v.shape(value, path, { "target!": targets, actions });
  else targets(value, path, v);
};

const invokeShape: Shape = {
  "src!": orPlaceholder(text),
  id: name,
  idLocation: text,
  input: json,
  onDone: transitions,
  onError: transitions,
  onEvent: transitions,
  compensate: (value, path, v) => v.shape(value, path, invokeShape),
  retry: json,
  timeout: delay,
  concurrencyKey: text,
  finalize: actions,
  autoforward: bool,
};

/** What it says of retries is judged by diagnose; keys of its own are the task's business. */
const taskDefaults: Check = (value, path, v) => {
  jsonObject(value, path, v);
  if (!isObject(value)) return;
  for (const [key, check] of Object.entries(sharedByTask)) {
    if (has(value, key)) check(value[key], join(path, key), v);
  }
};
const sharedByTask: Record<string, Check> = {
  timeout: delay,
  concurrencyKey: text,
  compensate: shaped(invokeShape),
};

const stateShape: Shape = {
  id: name,
  order: whole,
  type: oneOf("atomic", "compound", "parallel", "final", "history"),
  initial: arrow,
  // Walked by stateNode, which keeps the state's name.
  states: () => undefined,
  on: recordOf(transitions),
  after: recordOf(transitions),
  always: transitions,
  onDone: transitions,
  entry: actions,
  exit: actions,
  invoke: oneOrMany(shaped(invokeShape)),
  data: recordOf(json),
  tags: list(text),
  output: json,
  history: oneOf("shallow", "deep"),
  target: arrow,
  description: text,
  meta: json,
};

const settings: Check = shaped({
  selection: oneOf("scxml", "xstate"),
  errors: oneOf("continue", "stop"),
  scxmlDomain: bool,
  microstepsMax: (value, path, v) => {
    whole(value, path, v);
    if (typeof value === "number" && (value < 1 || value > 100_000)) {
      v.problem("bad-shape", path, `${where(path)} must be from 1 to 100000`);
    }
  },
  locking: oneOf("optimistic", "distributed"),
  onFailure: oneOf("compensate", "fail"),
  index: list(text),
  concurrencyKey: text,
  businessKey: text,
});

const chartShape: Shape = {
  ...stateShape,
  "lockstep!": number,
  context: jsonObject,
  schemas: shaped({ context: json, input: json, output: json, events: recordOf(json) }),
  guards: recordOf(guard),
  actions: recordOf(actions),
  delays: recordOf(delay),
  tasks: recordOf(taskDefaults),
  settings,
};

// ---- words

const escape = (segment: string | number): string =>
  String(segment).replaceAll("~", "~0").replaceAll("/", "~1");
const join = (path: string, segment: string | number): string =>
  path === "" ? escape(segment) : `${path}/${escape(segment)}`;
const where = (path: string): string => (path === "" ? "the state" : `\`${path}\``);

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "a text" : `a ${typeof value}`;
}

const keysOf = (shape: Shape): string[] => Object.keys(shape).map((one) => one.replace("!", ""));

/** The key that was probably meant: one a few slips away, or of which this is the beginning, or the other way round. */
function meantKey(key: string, shape: Shape): string | null {
  const known = keysOf(shape);
  return nearName(key, known) ?? known.find((one) => one.startsWith(key) || key.startsWith(one)) ?? null;
}
