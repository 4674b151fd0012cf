/**
 * What a chart says of its own data: the types of its context, input and events, from `schemas`, and for a context root
 * that no schema speaks of, from its first value and everything that is ever written to it.
 *
 * Holds: a type covers all that a run can put there. A root that something unknown is written to is unknown.
 */
import { isJsonObject, type Json } from "@/lib/base/json";
import type { CelNode } from "./cel/prepare";
import { inferType, type TypeFinding, type TypeScope } from "./cel/infer-type";
import {
  dyn,
  fieldOf,
  join,
  kind,
  listOfType,
  mapOfType,
  nothing,
  ofKind,
  typeOfJson,
  typeOfSchema,
  type ValueType,
} from "./cel/value-type";
import type { TaskDefaults, Value } from "./document";
import type { Location } from "./location";
import type { Machine } from "./machine";
import type { EventSeen, Written } from "./walk-document";

export interface Write {
  path: Location;
  value: Written;
  event: EventSeen;
}
/** What the types ask of the expressions' language. */
export interface Language {
  /** The syntax tree of a text; null when it has none. */
  parse(text: string): CelNode | null;
  isVariable(name: string): boolean;
}

export interface Judged {
  type: ValueType;
  findings: readonly TypeFinding[];
  /** The library's own check has to look at it. */
  isDoubtful: boolean;
}
const none: readonly never[] = [];
const unreadable: Judged = { type: dyn, findings: none, isDoubtful: true };

// Types climb a short ladder; those still climbing after this many rounds are taken for unknown.
const roundsMax = 6;

export class ChartTypes implements TypeScope {
  /** Of the roots that schemas.context speaks of. */
  readonly declared: ReadonlyMap<string, ValueType>;
  /** Whether schemas.context lists all roots there may be. */
  readonly listsContext: boolean;
  private readonly roots = new Map<string, ValueType>();
  private context: ValueType = dyn;
  private readonly input: ValueType;
  private readonly events: ReadonlyMap<string, ValueType>;
  private readonly seen = new Map<string, ValueType>();
  private event: EventSeen = { by: "any" };
  private findings: TypeFinding[] | null = null;
  private isDoubtful = false;
  /** By event and text; of the context as it is known so far. */
  private readonly judged = new Map<string, Map<string, Judged>>();

  constructor(
    private readonly machine: Machine,
    writes: readonly Write[],
    private readonly language: Language,
  ) {
    const { schemas } = machine.chart;
    const declared = typeOfSchema(schemas?.context);
    this.declared = declared.fields ?? new Map<string, ValueType>();
    this.input = typeOfSchema(schemas?.input);
    this.events = new Map(
      Object.entries(schemas?.events ?? {}).map(([type, schema]) => [type, typeOfSchema(schema)]),
    );
    this.listsContext = this.declared.size > 0 && declared.rest === undefined;
    this.settle([...this.initial(), ...writes]);
  }

  get eventNames(): ReadonlySet<string> {
    return new Set(this.events.keys());
  }

  rootNames(): Iterable<string> {
    return this.roots.keys();
  }

  /** What a text may give, and what in it cannot work. */
  judge(text: string, event: EventSeen): Judged {
    const known = this.judgedUnder(event.by === "on" && text.includes("event") ? event.descriptor : event.by);
    let judged = known.get(text);
    if (judged === undefined) known.set(text, (judged = this.judgeAnew(text, event)));
    return judged;
  }

  private judgedUnder(event: string): Map<string, Judged> {
    let known = this.judged.get(event);
    if (known === undefined) this.judged.set(event, (known = new Map<string, Judged>()));
    return known;
  }

  private judgeAnew(text: string, event: EventSeen): Judged {
    const ast = this.language.parse(text);
    if (ast === null) return unreadable;
    this.event = event;
    this.findings = null;
    this.isDoubtful = false;
    const type = inferType(ast, this);
    return { type, findings: this.findings ?? none, isDoubtful: this.isDoubtful };
  }

  // ---- as the scope of the text that is being judged

  isState(name: string): boolean {
    return this.machine.states.has(name);
  }
  stateNames(): Iterable<string> {
    return this.machine.states.keys();
  }
  find(finding: TypeFinding): void {
    (this.findings ??= []).push(finding);
  }
  doubt(): void {
    this.isDoubtful = true;
  }
  variable(name: string): ValueType | null {
    switch (name) {
      case "context":
        return this.context;
      case "event":
        return this.eventType(this.event);
      case "input":
        return this.input;
      default:
        if (!this.language.isVariable(name)) return null;
        return Object.hasOwn(this.machine.chart.guards ?? {}, name) ? ofKind(kind.bool) : dyn;
    }
  }

  /** Of a written value: a text is CEL, other JSON is itself. */
  typeOfValue(value: Value, event: EventSeen): ValueType {
    if (typeof value === "string") return this.judge(value, event).type;
    if (typeof value !== "object" || value === null) return typeOfJson(value);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.typeOfValue(item, event));
      return listOfType(items.reduce((all, item) => join(all, item), nothing));
    }
    if (typeof value.placeholder === "string") return nothing;
    return mapOfType(
      new Map(Object.entries(value).map(([key, item]) => [key, this.typeOfValue(item, event)])),
    );
  }

  /** What schemas.context says of a place; undefined: nothing; null: there is no such place. */
  declaredAt([root, ...rest]: Location): ValueType | null | undefined {
    let type = this.declared.get(root);
    for (const part of rest) {
      if (type === undefined) return undefined;
      const next: ValueType | null =
        typeof part === "number"
          ? (type.item ?? dyn)
          : (type.kinds & kind.map) === 0
            ? dyn
            : fieldOf(type, part);
      if (next === null) return null;
      type = next;
    }
    return type;
  }

  // ---- the context

  /** First values. Those of an SCXML import may be replaced by whoever starts it (SCXML 6.4). */
  private initial(): Write[] {
    const { chart, settings } = this.machine;
    const computed: Write[] = [];
    for (const [root, value] of Object.entries(chart.context ?? {})) {
      const path: Location = [root];
      if (isJsonObject(value) && typeof value.cel === "string" && Object.keys(value).length === 1) {
        computed.push({ path, value: { value: value.cel }, event: { by: "none" } });
        // One that fails is null.
        this.add(path, ofKind(kind.null));
      } else this.add(path, settings.scxmlDomain ? dyn : firstType(value));
    }
    for (const root of this.machine.lateRoots) this.add([root], ofKind(kind.null));
    return computed;
  }

  private settle(writes: readonly Write[]): void {
    // A schema's word is final; where it differs from the first value, both may be met.
    for (const [root, type] of this.declared) this.add([root], type);
    const open = writes.filter(({ path }) => !this.declared.has(path[0]));
    for (let round = 0; ; round++) {
      this.context = mapOfType(this.roots);
      this.judged.clear();
      let changed = false;
      for (const { path, value, event } of open) {
        if (!this.add(path, stored(this.typeOfWritten(value, event)))) continue;
        changed = true;
        if (round >= roundsMax) this.roots.set(path[0], dyn);
      }
      if (!changed) break;
    }
    this.context = mapOfType(this.roots);
  }

  private typeOfWritten(written: Written, event: EventSeen): ValueType {
    if ("kind" in written) return ofKind(kind[written.kind]);
    if ("value" in written) return this.typeOfValue(written.value, event);
    const list = this.typeOfValue(written.itemOf, event);
    return (list.kinds & kind.list) === 0 ? dyn : (list.item ?? dyn);
  }

  private add([root, ...path]: Location, type: ValueType): boolean {
    const wrapped = path.reduceRight<ValueType>(
      (inner, part) => (typeof part === "number" ? listOfType(inner) : mapOfType(new Map([[part, inner]]))),
      type,
    );
    const before = this.roots.get(root);
    const after = before === undefined ? wrapped : join(before, wrapped);
    if (after === before) return false;
    this.roots.set(root, after);
    return true;
  }

  // ---- events

  private eventType(event: EventSeen): ValueType {
    switch (event.by) {
      case "any":
      case "none":
        return dyn;
      case "after":
        return viewOf(ofKind(kind.null), false);
      case "answer":
        return this.answerType(event.src, event.failed);
      case "compensate":
        return dyn;
      case "on":
        break;
    }
    const { descriptor } = event;
    let type = this.seen.get(descriptor);
    if (type === undefined) this.seen.set(descriptor, (type = this.matchedBy(descriptor)));
    return type;
  }

  private matchedBy(descriptor: string): ValueType {
    const own = this.events.get(descriptor);
    if (own !== undefined) return viewOf(own, isPlatform(descriptor));
    if (descriptor === "*" || !descriptor.endsWith(".*")) return dyn;
    const prefix = descriptor.slice(0, -2);
    if (isPlatform(prefix)) return dyn;
    const listed = [...this.events].filter(([type]) => type === prefix || type.startsWith(`${prefix}.`));
    return listed.length === 0
      ? dyn
      : listed.map(([, data]) => viewOf(data, false)).reduce((all, one) => join(all, one));
  }

  private answerType(src: string, failed: boolean): ValueType {
    const { tasks } = this.machine.chart;
    const task = Object.hasOwn(tasks ?? {}, src) ? (tasks?.[src] as TaskDefaults | undefined) : undefined;
    if (failed || task?.schemas?.output === undefined) return dyn;
    return viewOf(typeOfSchema(task.schemas.output), true);
  }
}

const isPlatform = (type: string): boolean => /^(?:done|error)(?:\.|$)/.test(type);

/** The event as expressions see it: `type`, `data`, `at`, `id`, and the fields of its data. */
function viewOf(data: ValueType, hasOutput: boolean): ValueType {
  const own = new Map<string, ValueType>([
    ["type", ofKind(kind.string)],
    ["data", data],
    ["at", ofKind(kind.int)],
    ["id", ofKind(kind.string)],
    ...(hasOutput ? ([["output", data]] as const) : []),
  ]);
  if ((data.kinds & kind.map) === 0) return mapOfType(own);
  if (data.fields === undefined) return mapOfType(own, dyn);
  return mapOfType(new Map([...data.fields, ...own]), data.rest);
}

/** A first value that is not whole is a number that may become so. */
function firstType(value: Json): ValueType {
  const type = typeOfJson(value);
  return type.kinds === kind.double ? ofKind(kind.int | kind.double) : type;
}

/** As it is kept: times are texts, unsigned ints are ints; which texts it may be is not followed further. */
function stored(type: ValueType): ValueType {
  const { kinds } = type;
  const turned =
    (kinds & ~(kind.timestamp | kind.uint)) |
    ((kinds & kind.timestamp) === 0 ? 0 : kind.string) |
    ((kinds & kind.uint) === 0 ? 0 : kind.int);
  if (turned === kinds && type.values === undefined) return type;
  const { values: _values, ...rest } = type;
  return turned === kinds && Object.keys(rest).length === 1 ? ofKind(turned) : { ...rest, kinds: turned };
}
