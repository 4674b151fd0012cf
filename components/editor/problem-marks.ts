/**
 * Problems as badges on the drawing: on the transition they are about, else on their state, or on the nearest box that
 * shows it.
 */
import type { Marks, StateMark, TransitionMark } from "@/lib/diagram/marks";
import type { Scene } from "@/lib/diagram/scene";
import type { Diagnostic } from "@/lib/statechart/diagnostic";

export function problemMarks(problems: readonly Diagnostic[], scene: Scene): Marks {
  const states: Record<string, StateMark> = {};
  const transitions: Record<string, TransitionMark> = {};
  const drawn = new Set(scene.arrows.map((arrow) => arrow.transition));
  for (const problem of problems) {
    if (problem.severity === "info") continue;
    const transition = transitionOf(problem);
    if (transition !== null && drawn.has(transition)) {
      const mark = (transitions[transition] ??= {});
      if (mark.problem !== "error") mark.problem = problem.severity;
      continue;
    }
    const name = boxOf(scene, problem.at.state);
    if (name === null) continue;
    const mark = (states[name] ??= {});
    if (mark.problem !== "error") mark.problem = problem.severity;
  }
  return { states, transitions };
}

/** The transition's address a problem's field lies in: `on/pay/0/guard` → `idle#on/pay/0`. */
export function transitionOf({ at }: Diagnostic): string | null {
  const match =
    /^(?:(?:on|after)\/[^/]*\/\d+|(?:always|onDone)\/\d+|invoke\/\d+\/on(?:Done|Error|Event)\/\d+)/.exec(
      at.field ?? "",
    );
  return match ? `${at.state}#${match[0]}` : null;
}

/** What is left of the field inside the transition or state, e.g. `guard`, `actions/0`. */
export function fieldOf(problem: Diagnostic): string {
  const transition = transitionOf(problem);
  const field = problem.at.field ?? "";
  return transition === null
    ? field
    : field.slice(transition.length - problem.at.state.length).replace(/^\//, "");
}

function boxOf(scene: Scene, name: string): string | null {
  for (let state = scene.tree.byName.get(name); state; state = state.parent ?? undefined) {
    if (scene.box.has(state.name)) return state.name;
  }
  return null;
}
