/**
 * Which events a chart speaks of, for suggestions: those the active states handle first.
 *
 * Holds: exact types only; wildcards and the engine's own events (`done.*`, `error.*`) are for no one to send by hand.
 */
import type { ChartTree } from "@/lib/diagram/chart-tree";
import { withAncestors } from "./marks-at";

export interface EventTypes {
  /** Handled by an active state or one around it. */
  handled: string[];
  others: string[];
}

export function eventTypes(tree: ChartTree, configuration: readonly string[]): EventTypes {
  const active = withAncestors(tree, configuration);
  const handled = new Set<string>();
  const all = new Set<string>();
  for (const { when, source, forbidden } of tree.transitions) {
    if (when.kind !== "event" || !sendable(when.event)) continue;
    all.add(when.event);
    if (!forbidden && (source.name === "" || active.has(source.name))) handled.add(when.event);
  }
  return { handled: [...handled], others: [...all].filter((type) => !handled.has(type)) };
}

const sendable = (event: string): boolean => !event.includes("*") && !/^(done|error)\./.test(event);
