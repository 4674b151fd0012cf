/**
 * Which types of value each declared name of a document can ever hold, as far as its text shows.
 *
 * A translation uses it to keep plain expressions plain: `door_closed` alone is a condition where it can only be a bool.
 */
export type ValueType = "bool" | "number" | "string" | "null" | "other";
export type ValueTypes = ReadonlySet<ValueType> | "any";

export class RootTypes {
  private readonly byRoot = new Map<string, Set<ValueType> | "any">();

  declare(root: string): void {
    if (!this.byRoot.has(root)) this.byRoot.set(root, new Set());
  }

  isDeclared(root: string): boolean {
    return this.byRoot.has(root);
  }

  roots(): string[] {
    return [...this.byRoot.keys()];
  }

  /** Adds what `root` may hold; true when that was new. */
  add(root: string, types: ValueTypes): boolean {
    const known = this.byRoot.get(root);
    if (known === undefined || known === "any") return false;
    if (types === "any") {
      this.byRoot.set(root, "any");
      return true;
    }
    const before = known.size;
    for (const type of types) known.add(type);
    return known.size > before;
  }

  of(root: string): ValueTypes {
    return this.byRoot.get(root) ?? "any";
  }
}
