/**
 * What is shown on top of a chart: which states and transitions carry which mark. The canvas draws them; time travel,
 * simulator and editor only compute them.
 */
import type { Verdict } from "@/lib/statechart/trace";

export interface StateMark {
  active?: boolean;
  entered?: boolean;
  exited?: boolean;
  failed?: boolean;
  ignored?: boolean;
  problem?: "error" | "warning";
}
export interface TransitionMark {
  taken?: boolean;
  refused?: Exclude<Verdict, "true">;
  problem?: "error" | "warning";
}
export interface Marks {
  /** By state name. */
  states: Record<string, StateMark>;
  /** By transition id. */
  transitions: Record<string, TransitionMark>;
}

export const noMarks: Marks = { states: {}, transitions: {} };
