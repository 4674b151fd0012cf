/**
 * Ids of a document's states: the author's, and made ones where he gave none.
 *
 * Holds: every state has exactly one id; an id of the author's is unchanged, so that configurations and In() speak his words.
 */
import type { Reports } from "../reports";
import type { TextPosition } from "../text-position";
import type { XmlElement } from "./read-xml";

export const stateElements: ReadonlySet<string> = new Set(["state", "parallel", "final", "history"]);

export class StateIds {
  private readonly byElement = new Map<XmlElement, string>();
  private readonly byId = new Map<string, XmlElement>();
  private readonly parents = new Map<XmlElement, XmlElement>();

  constructor(root: XmlElement, reports: Reports) {
    const unnamed: XmlElement[] = [];
    this.collect(root, root.uri, unnamed, reports);
    const next = new Map<string, number>();
    for (const element of unnamed) {
      let number = next.get(element.name) ?? 1;
      while (this.byId.has(`${element.name}${number}`)) number++;
      next.set(element.name, number);
      this.add(element, `${element.name}${number}`);
    }
  }

  idOf(element: XmlElement): string {
    return this.byElement.get(element) ?? "";
  }

  find(id: string): XmlElement | undefined {
    return this.byId.get(id);
  }

  /** Whether `id` names a state inside `ancestor` (not `ancestor` itself). */
  isInside(id: string, ancestor: XmlElement): boolean {
    let element = this.byId.get(id);
    while (element !== undefined) {
      element = this.parents.get(element);
      if (element === ancestor) return true;
    }
    return false;
  }

  /** Whether `id` names a history state whose parent holds `inner`: it may restore `inner` or what lies inside. */
  mayRestore(id: string, inner: XmlElement): boolean {
    const history = this.byId.get(id);
    if (history?.name !== "history") return false;
    const parent = this.parents.get(history);
    let element = this.parents.get(inner);
    while (element !== undefined && element !== parent) element = this.parents.get(element);
    return element !== undefined;
  }

  /** Where each state stands in the text, by id. */
  positions(): Record<string, TextPosition> {
    return Object.fromEntries([...this.byId].map(([id, element]) => [id, element.at]));
  }

  private collect(parent: XmlElement, uri: string, unnamed: XmlElement[], reports: Reports): void {
    for (const child of parent.children) {
      if (child.uri !== uri || !stateElements.has(child.name)) continue;
      this.parents.set(child, parent);
      const id = child.attributes.get("id")?.trim() ?? "";
      if (id === "") unnamed.push(child);
      else if (/[\s#]/.test(id) || id === "__proto__")
        reports.error(
          "bad-id",
          `\`${id}\` cannot be a state's id: no white space, no "#", not "__proto__".`,
          child.at,
        );
      else if (this.byId.has(id))
        reports.error(
          "duplicate-id",
          `Two states have the id \`${id}\`; the first is at line ${this.byId.get(id)?.at.line}.`,
          child.at,
        );
      else this.add(child, id);
      this.collect(child, uri, unnamed, reports);
    }
  }

  private add(element: XmlElement, id: string): void {
    this.byElement.set(element, id);
    this.byId.set(id, element);
  }
}
