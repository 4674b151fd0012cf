/**
 * Which parts of the context an expression mentions, read from its text.
 */
import type { Environment } from "@marcbachmann/cel-js";
import { children, type CelNode } from "./prepare";

/** Context roots named as `context.x` or `context["x"]`. Empty for a text that does not parse. */
export function contextReferences(text: string, environment: Environment): Set<string> {
  const roots = new Set<string>();
  let ast: CelNode;
  try {
    ast = environment.parse(text).ast as unknown as CelNode;
  } catch {
    return roots;
  }
  walk(ast, (node) => {
    const root = rootOf(node);
    if (root !== null) roots.add(root);
  });
  return roots;
}

/**
 * As contextReferences, or "all" when the text reads the context as a whole, or by a key that it computes, or through one of
 * `others`, names that stand for expressions of their own.
 */
export function contextRead(
  text: string,
  environment: Environment,
  others: ReadonlySet<string>,
): ReadonlySet<string> | "all" {
  const roots = contextReferences(text, environment);
  let bare = 0;
  try {
    walk(environment.parse(text).ast as unknown as CelNode, (node) => {
      if (node.op === "id") {
        if (others.has(node.args as string)) bare = Infinity;
        else if (node.args === "context") bare++;
      } else if (rootOf(node) !== null) bare--;
    });
  } catch {
    return roots;
  }
  return bare > 0 ? "all" : roots;
}

/** x of `context.x` or `context["x"]`. */
function rootOf(node: CelNode): string | null {
  if (node.op !== "." && node.op !== ".?" && node.op !== "[]" && node.op !== "[?]") return null;
  const [left, right] = node.args as [CelNode, string | CelNode];
  if (left.op !== "id" || left.args !== "context") return null;
  if (typeof right === "string") return right;
  return right.op === "value" && typeof right.args === "string" ? right.args : null;
}

/** Every node as the author wrote it; macros by their written arguments. */
export function walk(node: CelNode, visit: (node: CelNode) => void): void {
  visit(node);
  for (const child of children(node)) walk(child, visit);
}
