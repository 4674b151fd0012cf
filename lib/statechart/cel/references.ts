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
    if (node.op !== "." && node.op !== "[]") return;
    const [left, right] = node.args as [CelNode, string | CelNode];
    if (left.op !== "id" || left.args !== "context") return;
    if (typeof right === "string") roots.add(right);
    else if (right.op === "value" && typeof right.args === "string") roots.add(right.args);
  });
  return roots;
}

/** Every node as the author wrote it; macros by their written arguments. */
export function walk(node: CelNode, visit: (node: CelNode) => void): void {
  visit(node);
  for (const child of children(node)) walk(child, visit);
}
