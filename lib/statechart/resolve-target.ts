/**
 * Targets: `#name[.path]`, `.child.path`, `sibling.path` → states. And the arrows that start at a dot or a history state.
 */
import type { Diagnostic } from "./diagnostic";
import type { StateNode, Target } from "./document";
import { isDescendant, listOf, properAncestors, type Arrow, type CompiledState } from "./machine";
import { nearName } from "./near-name";
import type { Programs } from "./programs";
import { transitionId } from "./transition-id";

type States = ReadonlyMap<string, CompiledState>;

/** The state that `target`, written at `source`, means; null when there is none. */
export function resolveTarget(target: Target, source: CompiledState, states: States): CompiledState | null {
  if (target.startsWith("#")) return byName(target.slice(1), states);
  if (target.startsWith(".")) return byPath(source, target.slice(1));
  return source.parent === null ? null : byPath(source.parent, target);
}

/** An initial arrow's or a history default's targets; its `problems` are added. Null when the state has no such arrow. */
export function readArrows(
  state: CompiledState,
  states: States,
  programs: Programs,
  problems: Diagnostic[],
): Arrow | null {
  const field = state.type === "history" ? "target" : "initial";
  const written = state.node[field];
  const problem = (code: string, message: string, fix?: Diagnostic["fix"]): void => {
    problems.push({
      code,
      severity: "error",
      at: { state: state.name, field },
      message,
      ...(fix === undefined ? {} : { fix }),
    });
  };
  if (written === undefined) {
    if (state.type === "compound") {
      const first = state.children.find((child) => child.type !== "history");
      problem(
        "missing-initial",
        `"${label(state)}" has child states but no \`initial\`: name the one it starts in`,
        first && {
          title: `Start in ${first.key}`,
          edit: { set: "initial", state: state.name, to: first.key },
        },
      );
    }
    return null;
  }
  if (state.type !== "compound" && state.type !== "history") return null;
  const { targetNames, actions } = arrowOf(written);
  const scope = state.type === "history" ? state.parent : state;
  const targets: CompiledState[] = [];
  const place = typeof written === "object" && !Array.isArray(written) ? `${field}/target` : field;
  for (const [index, name] of targetNames.entries()) {
    const target = startTarget(name, state, states);
    if (target === null) {
      const near = nearName(name.replace(/^[.#]/, ""), (scope ?? state).childByKey.keys());
      const at = targetNames.length === 1 ? place : `${place}/${index}`;
      problem(
        `bad-${field}`,
        `there is no state \`${name}\` in "${label(scope ?? state)}"${near === null ? "" : `: did you mean \`${near}\`?`}`,
        near === null ? undefined : { title: `Use ${near}`, edit: { set: at, state: state.name, to: near } },
      );
    } else if (scope === null || !isDescendant(target, scope) || target === state) {
      problem(`bad-${field}`, `\`${name}\` is not inside "${label(scope ?? state)}"`);
    } else targets.push(target);
  }
  if (targetNames.length === 0) problem(`bad-${field}`, `\`${field}\` of "${label(state)}" names no state`);
  const clash = illegalPair(targets);
  if (clash !== null) problem("illegal-targets", clash, keepFirst(targetNames, state.name, place));
  return {
    id: transitionId(state.name, field),
    targetNames,
    targets,
    actions: programs.block(
      actions,
      state.name,
      field === "target" ? "history" : "initial",
      `${field}/actions`,
    ),
  };
}

/** The mend of targets that exclude each other. */
export function keepFirst(targetNames: readonly string[], state: string, field: string): Diagnostic["fix"] {
  const [first = ""] = targetNames;
  return { title: `Keep ${first} alone`, edit: { set: field, state, to: first } };
}

/** Why these states cannot be active together, or null when they can. */
export function illegalPair(targets: readonly CompiledState[]): string | null {
  for (const [index, a] of targets.entries()) {
    for (const b of targets.slice(index + 1)) {
      if (a === b) continue;
      const common = isDescendant(a, b)
        ? b
        : [...properAncestors(a)].find((one) => one === b || isDescendant(b, one));
      if (common?.type !== "parallel" || common === a || common === b) {
        return `"${label(a)}" and "${label(b)}" cannot be active together: targets must lie in different regions of a parallel state`;
      }
    }
  }
  return null;
}

/** What to say of a target that is not there, and the one that was probably meant. */
export function noSuchTarget(
  target: Target,
  source: CompiledState,
  states: States,
): { message: string; meant: string | null } {
  const bare = target.replace(/^[.#]/, "");
  const siblings = source.parent?.childByKey.keys() ?? [];
  const guesses = [
    `.${bare}`,
    bare,
    `#${bare}`,
    nearName(bare, siblings),
    prefixed(".", nearName(bare, source.childByKey.keys())),
    prefixed("#", nearName(bare, states.keys())),
  ];
  const meant =
    guesses.find((one) => one !== null && one !== target && resolveTarget(one, source, states) !== null) ??
    null;
  return {
    message: `there is no state \`${target}\` seen from "${label(source)}"${meant === null ? "" : `: did you mean \`${meant}\`?`}`,
    meant,
  };
}

const prefixed = (prefix: string, name: string | null): string | null =>
  name === null ? null : prefix + name;

export const label = (state: CompiledState): string => (state.name === "" ? "the root" : state.name);

function arrowOf(written: NonNullable<StateNode["initial"]>): {
  targetNames: readonly string[];
  actions: Exclude<StateNode["entry"], undefined> | undefined;
} {
  if (typeof written === "object" && !Array.isArray(written)) {
    return { targetNames: listOf(written.target), actions: written.actions };
  }
  return { targetNames: listOf(written), actions: undefined };
}

/** From a dot, a plain path starts at the state's own children; from a history state, at its siblings. */
function startTarget(target: Target, state: CompiledState, states: States): CompiledState | null {
  if (target.startsWith("#")) return byName(target.slice(1), states);
  const start = state.type === "history" ? state.parent : state;
  return start === null ? null : byPath(start, target.startsWith(".") ? target.slice(1) : target);
}

/** `#x.y`: the longest name wins, the rest is a path. Ids and dotted paths are names alike. */
function byName(text: string, states: States): CompiledState | null {
  const whole = states.get(text);
  if (whole !== undefined && text !== "") return whole;
  for (let end = text.lastIndexOf("."); end > 0; end = text.lastIndexOf(".", end - 1)) {
    const start = states.get(text.slice(0, end));
    if (start !== undefined) return byPath(start, text.slice(end + 1));
  }
  return null;
}

/** Keys may hold dots (then the state has an id), so the longest key that fits is taken first. */
function byPath(start: CompiledState, path: string): CompiledState | null {
  for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
    const child = start.childByKey.get(path.slice(0, end));
    if (child === undefined) continue;
    if (end === path.length) return child;
    const found = byPath(child, path.slice(end + 1));
    if (found !== null) return found;
  }
  return null;
}
