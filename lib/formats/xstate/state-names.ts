/**
 * XState's names for states (`#id`, `machine.path`, `sibling.path`) turned into a chart's.
 *
 * Holds: a reference that resolves in XState resolves to the same state in the chart; one that does not is passed on as
 *        written, for `check` to name.
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import type { Target } from "@/lib/statechart/document";
import type { Place } from "./place";

export class StateNames {
  /** The machine's own name, null when it has none. */
  readonly machine: string | null;
  /** The root's id in the chart, null when it needs none. */
  readonly rootId: string | null;
  /** XState id (declared, or machine name and path) → name in the chart. */
  private readonly byId = new Map<string, string>();
  private readonly pathById = new Map<string, string[]>();
  /** No id has more dots than this, so no longer beginning of a reference needs a look. */
  private idSegmentsMax = 0;
  /** Path joined by "\0" → name in the chart. */
  private readonly byPath = new Map<string, string>();

  constructor(root: JsonObject) {
    this.rootId = typeof root.id === "string" && root.id !== "" ? root.id : null;
    this.machine = this.rootId ?? (typeof root.key === "string" ? root.key : null);
    this.collect(root, []);
  }

  nameOf(path: readonly string[]): string {
    return this.byPath.get(path.join("\0")) ?? path.join(".");
  }

  targets(value: Json, place: Place): Target | Target[] | undefined {
    const list = (Array.isArray(value) ? value : [value]).filter((item) => typeof item === "string");
    const targets = list.map((item) => this.target(item, place));
    return targets.length === 1 ? targets[0] : targets.length === 0 ? undefined : targets;
  }

  target(text: string, place: Place): Target {
    if (text.startsWith("#")) {
      const name = this.find(text.slice(1));
      return name === undefined ? text : `#${name}`;
    }
    // XState refuses a bare key as a target of the root; Stately's documents mean the root's child by it.
    if (place.path.length === 0 && !text.startsWith(".")) return `.${text}`;
    return text;
  }

  /** The chart's name for an XState id such as `m.a.b`, undefined when no state has it. */
  find(id: string): string | undefined {
    const plain = id.replaceAll("\\.", "\0");
    const direct = this.byId.get(plain.replaceAll("\0", "."));
    if (direct !== undefined) return direct;
    // XState: the first segment is an id, the rest a path below it.
    const segments = plain.split(".").map((segment) => segment.replaceAll("\0", "."));
    for (let length = Math.min(segments.length - 1, this.idSegmentsMax); length > 0; length--) {
      const base = this.pathById.get(segments.slice(0, length).join("."));
      if (base === undefined) continue;
      return this.byPath.get([...base, ...segments.slice(length)].join("\0"));
    }
    return undefined;
  }

  private collect(node: JsonObject, path: string[]): void {
    const declared = path.length > 0 && typeof node.id === "string" ? node.id : null;
    const name = path.length === 0 ? (this.rootId ?? "") : (declared ?? path.join("."));
    this.byPath.set(path.join("\0"), name);
    const ids = [[this.rootId ?? "(machine)", ...path].join(".")];
    if (typeof this.machine === "string") ids.push([this.machine, ...path].join("."));
    if (declared !== null) ids.push(declared);
    for (const id of ids) {
      this.byId.set(id, name);
      this.pathById.set(id, path);
      this.idSegmentsMax = Math.max(this.idSegmentsMax, id.split(".").length);
    }
    if (!isJsonObject(node.states)) return;
    for (const [key, child] of Object.entries(node.states))
      if (isJsonObject(child)) this.collect(child, [...path, key]);
  }
}
