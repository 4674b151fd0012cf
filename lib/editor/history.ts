/**
 * Undo and redo: one step per gesture. Documents share structure, so keeping them whole is cheap.
 *
 * Holds: undo restores the very document object that was there before the step; typing into one field within
 * `coalesceMs` is one step; a new step clears what could be redone.
 */
import type { EditorDocument } from "./document";

export interface Step {
  document: EditorDocument;
  selection: readonly string[];
}

export interface History {
  past: readonly Step[];
  present: Step;
  future: readonly Step[];
  /** What the newest step edits, e.g. `guard idle#on/pay/0`, and when it last grew. */
  open: { key: string; at: number } | null;
}

/** A pause this long ends a run of typing. */
export const coalesceMs = 1200;
const stepsMax = 500;

export const startHistory = (document: EditorDocument): History => ({
  past: [],
  present: { document, selection: [] },
  future: [],
  open: null,
});

export function record(history: History, next: Step, options: { key?: string; at: number }): History {
  const { key, at } = options;
  const { open } = history;
  if (key !== undefined && open?.key === key && at - open.at < coalesceMs) {
    return { ...history, present: next, future: [], open: { key, at } };
  }
  const past = [...history.past, history.present].slice(-stepsMax);
  return { past, present: next, future: [], open: key === undefined ? null : { key, at } };
}

/** A change that is no step of its own: layout of new elements, another selection. */
export const amend = (history: History, present: Step): History => ({ ...history, present });

export function undo(history: History): History {
  const previous = history.past[history.past.length - 1];
  if (!previous) return history;
  return {
    past: history.past.slice(0, -1),
    present: previous,
    future: [history.present, ...history.future],
    open: null,
  };
}

export function redo(history: History): History {
  const [next, ...future] = history.future;
  if (!next) return history;
  return { past: [...history.past, history.present], present: next, future, open: null };
}
