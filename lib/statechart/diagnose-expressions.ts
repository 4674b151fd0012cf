/**
 * Diagnostics of what is evaluated: CEL that does not parse or type-check, what can never work by the types of the chart's
 * data, unknown names, bad locations, placeholders.
 */
import type { Environment } from "@marcbachmann/cel-js";
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import { checkExpression, parseExpression, type CheckedExpression } from "./cel/check-expression";
import { environmentWith, reservedNames } from "./cel/environment";
import type { TypeFinding } from "./cel/infer-type";
import { functionNames } from "./cel/signatures";
import { dyn, isDyn, kind, numeric, typeOfJson, typeWords, type ValueType } from "./cel/value-type";
import { ChartTypes, type Write } from "./chart-types";
import { parseDelay } from "./delay";
import type { Diagnostic, Severity } from "./diagnostic";

import { formatLocation, parseLocation } from "./location";
import type { Machine } from "./machine";
import { nearName } from "./near-name";
import { retryFields, retryProblem } from "./read-invoke";
import { escapeSegment } from "./transition-id";
import {
  walkDocument,
  type EventSeen,
  type Expected,
  type Part,
  type Place,
  type Visit,
} from "./walk-document";

export function diagnoseExpressions(machine: Machine): Diagnostic[] {
  const judge = new Judge(machine);
  judge.judge();
  return judge.found;
}

class Judge {
  readonly found: Diagnostic[] = [];
  private readonly environment: Environment;
  private readonly types: ChartTypes;
  private readonly invokeIds: ReadonlySet<string>;
  private readonly document: () => void;

  constructor(private readonly machine: Machine) {
    const environment = environmentWith(Object.keys(machine.chart.guards ?? {}));
    this.environment = environment;
    this.invokeIds = new Set(machine.ordered.flatMap(({ invokes }) => invokes.map(({ id }) => id)));
    const writes: Write[] = [];
    let types: ChartTypes | null = null;
    // One visitor for both walks: the engine below would otherwise compile the walk for the first and drop it at the second.
    const visit: Visit = (part, at, event) => {
      if (types !== null) return this.part(part, at, event);
      if (part.kind !== "write") return;
      const path = parseLocation(part.location);
      if (path !== null) writes.push({ path, value: part.value, event });
    };
    walkDocument(machine, visit);
    this.types = types = new ChartTypes(machine, writes, {
      parse: (text) => parseExpression(text, environment),
      isVariable: (name) => environment.hasVariable(name),
    });
    this.document = () => walkDocument(machine, visit);
  }

  judge(): void {
    this.document();
    this.firstValues();
    for (const name of Object.keys(this.machine.chart.guards ?? {})) {
      if (reservedNames.has(name)) {
        const message = `a guard cannot be named "${name}": expressions use that name for something else`;
        this.tell("error", "reserved-name", { state: "", field: `guards/${name}` }, message);
      }
    }
  }

  private tell(severity: Severity, code: string, at: Place, message: string, fix?: Diagnostic["fix"]): void {
    this.found.push({ code, severity, at, message, ...(fix === undefined ? {} : { fix }) });
  }

  private part(part: Part, at: Place, event: EventSeen): void {
    const { chart } = this.machine;
    switch (part.kind) {
      case "cel":
        return this.cel(part.text, part.expects, at, event);
      case "guard-name":
        if (!knows(chart.guards, part.name))
          this.unknown("guard", part.name, Object.keys(chart.guards ?? {}), at, "guards");
        return;
      case "action-name":
        if (!knows(chart.actions, part.name))
          this.unknown("action", part.name, Object.keys(chart.actions ?? {}), at, "actions");
        return;
      case "in": {
        if (this.machine.states.has(part.name)) return;
        const near = nearName(part.name, this.machine.states.keys());
        const message = `there is no state named "${part.name}" to be in${meant(near)}`;
        return this.tell(
          "error",
          "unknown-state",
          at,
          message,
          near === null ? undefined : set(at, { in: near }, near),
        );
      }
      case "delay":
        return this.delay(part.text, at, event);
      case "location":
        return this.location(part.text, part.declares, at);
      case "write":
        return this.write(part, at, event);
      case "event":
        return this.event(part.descriptor, at, true);
      case "message":
        if (part.toSelf) this.event(part.type, at, false);
        return;
      case "send-target":
        if (/^(?:#_.+|instance:.+)$/s.test(part.text)) return;
        return this.tell(
          "error",
          "bad-send-target",
          at,
          `"${part.text}" is not a target: use #_internal, #_parent, #_INVOKEID or instance:ID`,
          this.invokeIds.has(part.text) || part.text === "parent"
            ? set(at, `#_${part.text}`, `#_${part.text}`)
            : undefined,
        );
      case "retry":
        return this.retry(part.value, at);
      case "placeholder":
        return this.tell(
          "warning",
          "placeholder",
          at,
          `the ${part.of} "${part.name}" is a placeholder: ${whatItDoes[part.of]}`,
        );
    }
  }

  private retry(value: Json, at: Place): void {
    const problem = retryProblem(value);
    if (problem === null) return;
    const { field, message } = problem;
    const place = field === null ? at : { ...at, field: `${at.field}/${escapeSegment(field)}` };
    const near = field === null || retryFields.has(field) ? null : nearName(field, retryFields);
    const edit = near === null ? null : { rename: place.field, state: at.state, to: near };
    const fix = near === null || edit === null ? undefined : { title: `Rename to ${near}`, edit };
    this.tell("error", "bad-retry", place, `${message}${meant(near)}`, fix);
  }

  // ---- names

  private unknown(
    what: "guard" | "action",
    name: string,
    names: readonly string[],
    at: Place,
    section: "guards" | "actions",
  ): void {
    const near = nearName(name, names);
    const message = `there is no ${what} named "${name}"${meant(near) || `: declare it in \`${section}\``}`;
    const fix =
      near === null
        ? {
            title: `Declare ${name} as a placeholder`,
            edit: { declare: section, name, value: { placeholder: name } },
          }
        : { title: `Use ${near}`, edit: { set: at.field, state: at.state, to: near, part: "type" } };
    this.tell("error", `unknown-${what}`, at, message, fix);
  }

  private event(type: string, at: Place, isDescriptor: boolean): void {
    const names = this.types.eventNames;
    if (names.size === 0 || names.has(type) || /^(?:done|error|lock)(?:\.|$)/.test(type)) return;
    if (isDescriptor && (type === "*" || matchesListed(type, names))) return;
    const near = nearName(type, names);
    const message = `\`schemas.events\` does not list "${type}"${meant(near) || ": add it there"}`;
    const fix =
      near !== null
        ? isDescriptor
          ? { title: `Rename to ${near}`, edit: { rename: at.field, state: at.state, to: near } }
          : set(at, near, near)
        : type.endsWith(".*")
          ? undefined
          : {
              title: `List ${type} in schemas.events`,
              edit: { declare: "schemas/events", name: type, value: {} },
            };
    this.tell("warning", "event-outside-schema", at, message, fix);
  }

  private delay(text: string, at: Place, event: EventSeen): void {
    const { delays } = this.machine.chart;
    if (knows(delays, text) || parseDelay(text) !== null) return;
    if (!/^[A-Za-z_][\w-]*$/.test(text)) return this.cel(text, "delay", at, event);
    const near = nearName(text, Object.keys(delays ?? {}));
    const isKey = at.field === `after/${escapeSegment(text)}`;
    const use = isKey
      ? { rename: at.field, state: at.state, to: near ?? "" }
      : { set: at.field, state: at.state, to: near ?? "" };
    this.tell(
      "error",
      "unknown-delay",
      at,
      `"${text}" is neither a duration nor a name in \`delays\`${meant(near)}`,
      near === null
        ? {
            title: `Declare ${text} as a placeholder`,
            edit: { declare: "delays", name: text, value: { placeholder: text } },
          }
        : { title: `Use ${near}`, edit: use },
    );
  }

  // ---- writes

  private location(text: string, declares: boolean, at: Place): void {
    const { chart, settings, lateRoots } = this.machine;
    const path = parseLocation(text);
    if (path === null) {
      const bare = text.startsWith("context.") ? text.slice("context.".length) : null;
      return this.tell(
        "error",
        "bad-location",
        at,
        `"${text}" is not a location that can be written`,
        bare === null ? undefined : this.relocate(text, bare, at),
      );
    }
    const [root] = path;
    const isDeclared = knows(chart.context, root) || lateRoots.includes(root) || declares;
    if (settings.scxmlDomain && !isDeclared) {
      const near = nearName(root, Object.keys(chart.context ?? {}));
      return this.tell(
        "error",
        "undeclared",
        at,
        `"${root}" is not declared${meant(near)}`,
        near === null ? undefined : this.relocate(text, formatLocation([near, ...path.slice(1)]), at),
      );
    }
    if (root === "context" && path.length > 1 && !knows(chart.context, "context")) {
      const bare = formatLocation(path.slice(1));
      return this.tell(
        "warning",
        "context-in-location",
        at,
        `\`${text}\` writes into a root named "context": locations are written without \`context.\``,
        this.relocate(text, bare, at),
      );
    }
    if (declares) return;
    const { types } = this;
    const known = types.declaredAt(path);
    if (
      known === null ||
      (types.listsContext && known === undefined && !types.declared.has(root) && !isDeclared)
    ) {
      const isRoot = !types.declared.has(root);
      const near = isRoot ? nearName(root, types.declared.keys()) : null;
      this.tell(
        "warning",
        "unknown-context",
        at,
        `\`schemas.context\` has no \`${text}\`${meant(near)}`,
        near === null ? undefined : this.relocate(text, formatLocation([near, ...path.slice(1)]), at),
      );
    }
  }

  /** A location is a key of `assign`, or a field's text. */
  private relocate(text: string, to: string, at: Place): Diagnostic["fix"] {
    const isKey = at.field.endsWith(`/${escapeSegment(text)}`);
    const edit = isKey ? { rename: at.field, state: at.state, to } : { set: at.field, state: at.state, to };
    return { title: `Write to ${to}`, edit };
  }

  private write(part: Extract<Part, { kind: "write" }>, at: Place, event: EventSeen): void {
    const { types } = this;
    const path = parseLocation(part.location);
    const expected = path === null ? undefined : types.declaredAt(path);
    if (expected === undefined || expected === null || isDyn(expected) || !("value" in part.value)) return;
    const type = types.typeOfValue(part.value.value, event);
    const problem = unfit(type, expected);
    if (problem !== null)
      this.tell(
        "warning",
        "assign-type",
        at,
        `\`${part.location}\` is ${problem.wanted} by \`schemas.context\`, this value is ${problem.given}`,
      );
  }

  /** Literal first values against schemas.context. Null says "not yet". */
  private firstValues(): void {
    for (const [root, value] of Object.entries(this.machine.chart.context ?? {})) {
      const expected = this.types.declared.get(root);
      if (value === null || expected === undefined || (isJsonObject(value) && "cel" in value)) continue;
      const problem = unfit(typeOfJson(value), expected);
      if (problem !== null) {
        const at = { state: "", field: `context/${escapeSegment(root)}` };
        this.tell(
          "warning",
          "assign-type",
          at,
          `\`${root}\` is ${problem.wanted} by \`schemas.context\`, its first value is ${problem.given}`,
        );
      }
    }
  }

  // ---- expressions

  private cel(text: string, expects: Expected | "delay", at: Place, event: EventSeen): void {
    const { type, findings, isDoubtful } = this.types.judge(text, event);
    if (isDoubtful || findings.length > 0) {
      const checked = checkExpression(text, this.environment);
      if (!checked.ok) return this.refused(text, expects, checked, at);
    }
    const isFalse = type.kinds === kind.bool && type.values?.length === 1 && type.values[0] === false;
    for (const finding of findings) this.typed(finding, text, expects === "bool" && isFalse, at);
    if (findings.length > 0) return;
    if (expects === "any" && type.kinds !== 0 && (type.kinds & jsonKinds) === 0) {
      const message = `\`${text}\` gives ${typeWords(type)}, which is not JSON and cannot be kept${type.kinds === kind.duration ? ": use its getMilliseconds()" : ""}`;
      const fix =
        type.kinds === kind.duration
          ? this.replaced(text, { start: 0, end: text.length }, `(${text}).getMilliseconds()`, at)
          : undefined;
      return this.tell("error", "not-json", at, message, fix);
    }
    const wanted = wantedKinds[expects];
    if (type.kinds === 0 || (type.kinds & wanted) !== 0) return;
    if (expects === "bool")
      return this.tell(
        "warning",
        "guard-never-true",
        at,
        `the guard \`${text}\` gives ${typeWords(type)}, so it is never true`,
      );
    this.tell(
      "warning",
      "type-mismatch",
      at,
      `\`${text}\` gives ${typeWords(type)}, ${wantedWords[expects]} is needed here`,
    );
  }

  private typed(finding: TypeFinding, text: string, neverTrue: boolean, at: Place): void {
    const near = finding.at === undefined ? null : nearName(finding.at.written, finding.at.known);
    const fix =
      near === null || finding.at === undefined ? undefined : this.replaced(text, finding.at, near, at);
    const { code, message } = finding;
    if (code === "unknown-state")
      return this.tell("error", code, at, `${message}${meant(near)} in \`${text}\``, fix);
    if (code === "unknown-field") {
      const isContext = message.startsWith("`context` ");
      return this.tell(
        "warning",
        isContext ? "unknown-context" : code,
        at,
        `${message}${meant(near)} in \`${text}\``,
        fix,
      );
    }
    this.tell(
      "warning",
      neverTrue ? "guard-never-true" : code,
      at,
      `${message}${meant(near)}${neverTrue ? `, so the guard \`${text}\` is never true` : ` in \`${text}\``}`,
      fix,
    );
  }

  private refused(
    text: string,
    expects: Expected | "delay",
    checked: Extract<CheckedExpression, { ok: false }>,
    at: Place,
  ): void {
    if (checked.syntax) return this.tell("error", "cel-syntax", at, checked.message);
    const start = (checked.at ?? 0) - 1;
    const name = start < 0 ? undefined : /^[A-Za-z_]\w*/.exec(text.slice(start))?.[0];
    const isBare = /^[A-Za-z_][\w.-]*$/.test(text);
    const guards = Object.keys(this.machine.chart.guards ?? {});
    if (checked.code === "unknown-variable" && name !== undefined) {
      const roots = new Set(this.types.rootNames());
      const near = roots.has(name)
        ? `context.${name}`
        : (nearName(name, [...variables, ...guards]) ?? contextual(nearName(name, roots)));
      if (expects === "bool" && isBare && near === null) {
        return this.tell(
          "error",
          "unknown-guard",
          at,
          `there is no guard named "${text}", and it is not an expression either`,
          /^[A-Za-z_]\w*$/.test(text)
            ? {
                title: `Declare ${text} as a placeholder`,
                edit: { declare: "guards", name: text, value: { placeholder: text } },
              }
            : undefined,
        );
      }
      const fix =
        near === null ? undefined : this.replaced(text, { start, end: start + name.length }, near, at);
      const code = expects === "bool" && isBare ? "unknown-guard" : "cel-type";
      return this.tell("error", code, at, `${checked.message}${meant(near)}`, fix);
    }
    const called = /(?:function not found|no matching overload)[^A-Za-z_]*(?:for )?'?([\w.]*?)(\w+)\(/i.exec(
      checked.message,
    )?.[2];
    const known = [...functionNames()];
    const near = called === undefined || known.includes(called) ? null : nearName(called, known);
    const found = called === undefined ? null : new RegExp(`\\b${called}\\s*\\(`).exec(text);
    this.tell(
      "error",
      "cel-type",
      at,
      `${checked.message}${meant(near)}`,
      near === null || called === undefined || found === null
        ? undefined
        : this.replaced(text, { start: found.index, end: found.index + called.length }, near, at),
    );
  }

  /** The expression with one part of its text replaced. A delay is the key itself. */
  private replaced(
    text: string,
    part: { start: number; end: number },
    by: string,
    at: Place,
  ): Diagnostic["fix"] {
    const to = text.slice(0, part.start) + by + text.slice(part.end);
    const checked = checkExpression(to, this.environment);
    if (!checked.ok && (checked.syntax || checkExpression(text, this.environment).ok)) return undefined;
    if (at.field === `after/${escapeSegment(text)}`)
      return { title: `Use ${by}`, edit: { rename: at.field, state: at.state, to } };
    return { title: `Use ${by}`, edit: { set: at.field, state: at.state, to, part: "cel" } };
  }
}

const knows = (record: object | undefined, name: string): boolean =>
  record !== undefined && Object.hasOwn(record, name);
const meant = (near: string | null): string => (near === null ? "" : `: did you mean \`${near}\`?`);
const contextual = (root: string | null): string | null => (root === null ? null : `context.${root}`);
const set = (at: Place, to: string | JsonObject, name: string): Diagnostic["fix"] => ({
  title: `Use ${name}`,
  edit: { set: at.field, state: at.state, to },
});
const variables = ["context", "event", "input", "params"];

const matchesListed = (descriptor: string, names: ReadonlySet<string>): boolean => {
  if (!descriptor.endsWith(".*")) return false;
  const prefix = descriptor.slice(0, -2);
  return [...names].some((name) => name === prefix || name.startsWith(`${prefix}.`));
};

const wantedKinds: Record<Expected | "delay", number> = {
  bool: kind.bool,
  text: kind.string,
  key: kind.string | kind.int | kind.null,
  list: kind.list,
  delay: numeric | kind.duration | kind.string,
  any: dyn.kinds,
};
const wantedWords: Record<Expected | "delay", string> = {
  bool: "a bool",
  text: "a text",
  key: "a text, a whole number or null",
  list: "a list",
  delay: "a duration or a number of ms",
  any: "anything",
};

const jsonKinds =
  kind.null |
  kind.bool |
  kind.int |
  kind.double |
  kind.string |
  kind.list |
  kind.map |
  kind.uint |
  // Kept as an ISO text.
  kind.timestamp;

/** Why no value of `type` can be one of `expected`; null when some can. */
function unfit(type: ValueType, expected: ValueType): { wanted: string; given: string } | null {
  if (type.kinds === 0 || isDyn(type)) return null;
  const given =
    type.kinds |
    ((type.kinds & kind.timestamp) === 0 ? 0 : kind.string) |
    ((type.kinds & kind.uint) === 0 ? 0 : kind.int);
  if ((given & expected.kinds) === 0) return { wanted: typeWords(expected), given: typeWords(type) };
  const listed = expected.values;
  if (listed === undefined || type.values === undefined || given !== kind.string) return null;
  if (type.values.some((one) => listed.includes(one))) return null;
  const quoted = (values: readonly unknown[]): string => values.map((one) => `'${String(one)}'`).join(" or ");
  return { wanted: quoted(listed), given: quoted(type.values) };
}

const whatItDoes = {
  guard: "it is always false until it is written",
  action: "it does nothing but log until it is written",
  delay: "it never fires until it is written",
  value: "it has no value until it is written",
  invocation: "nothing answers it until it is named",
} as const;
