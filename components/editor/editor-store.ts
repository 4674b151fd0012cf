/**
 * The state of one open editor: the document with its history, selection, what is being typed where, problems, saving.
 *
 * Holds: every change of the document goes through `run` (a command) and is one undo step; whatever changes the document
 * is handed to the saver; a refusal is shown and changes nothing.
 */
import { createContext, useContext } from "react";
import { createStore, useStore, type StoreApi } from "zustand";
import { must } from "@/lib/base/assert";
import type { Measure } from "@/lib/diagram/measure";
import { applyCommand, type Command } from "@/lib/editor/command";
import { isRefusal, type EditorDocument } from "@/lib/editor/document";
import { amend, record, redo, startHistory, undo, type History } from "@/lib/editor/history";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import type { SaveStatus } from "./draft-saver";

export type Tool = "select" | "state" | "compound" | "parallel" | "final" | "history" | "transition";
export type DrawerTab = "problems" | "code";

/** An open text field on the drawing; `fresh`: the element was just made, so naming it is the same undo step. */
export interface Naming {
  id: string;
  fresh: boolean;
}

export interface EditorState {
  chartId: string;
  measure: Measure;
  history: History;
  /** State names and transition ids. */
  selection: readonly string[];
  tool: Tool;
  /** The state whose name field is open, or the transition whose label field is. */
  naming: Naming | null;
  labelling: Naming | null;
  problems: readonly Diagnostic[];
  /** Problems are of this very document. */
  checked: EditorDocument | null;
  save: SaveStatus;
  revision: number;
  version: number | null;
  drawer: { open: boolean; tab: DrawerTab };
  /** A field that a click on a problem asked for, e.g. `guard`; the count makes repeats visible. */
  focus: { field: string; count: number };
  fitCount: number;
  /** An element to bring into view; the count makes repeats visible. */
  shown: { id: string; count: number };
  refusal: string | null;
}

interface RunOptions {
  /** Names a field: its keystrokes are one step. */
  typing?: string;
  /** Select what the command made; default true. */
  select?: boolean;
  /** Part of the step before: naming what was just made. */
  merge?: boolean;
}

export interface EditorActions {
  /** False when refused, else what it made or true. */
  run: (command: Command, options?: RunOptions) => string | boolean;
  undo: () => void;
  redo: () => void;
  select: (ids: readonly string[]) => void;
  /** Selects from outside the drawing, and brings it into view. */
  reveal: (id: string) => void;
  set: (change: Partial<EditorState>) => void;
  openDrawer: (tab: DrawerTab) => void;
}

export type EditorStore = StoreApi<EditorState & EditorActions>;

export interface StoreOptions {
  chartId: string;
  document: EditorDocument;
  measure: Measure;
  revision: number;
  version: number | null;
  savedAt: number;
  onChange: (document: EditorDocument) => void;
  onRemoved: (transitions: number, undo: () => void) => void;
}

export function createEditorStore(options: StoreOptions): EditorStore {
  const { measure, onChange, onRemoved } = options;
  return createStore((set, get) => ({
    chartId: options.chartId,
    measure,
    history: startHistory(options.document),
    selection: [],
    tool: "select",
    naming: null,
    labelling: null,
    problems: [],
    checked: null,
    save: { kind: "saved", at: options.savedAt },
    revision: options.revision,
    version: options.version,
    drawer: { open: false, tab: "problems" },
    focus: { field: "", count: 0 },
    fitCount: 0,
    shown: { id: "", count: 0 },
    refusal: null,

    run: (command, { typing, select = true, merge = false } = {}) => {
      const { history, selection } = get();
      const before = history.present.document;
      const outcome = applyCommand(before, command, { measure });
      if (isRefusal(outcome)) {
        set({ refusal: outcome.refused });
        return false;
      }
      if (outcome.document === before) {
        set({ refusal: null });
        return outcome.select ?? true;
      }
      const kept = selection.filter((id) => exists(outcome.document, id));
      const next = select && outcome.select !== undefined ? [outcome.select] : kept;
      const step = { document: outcome.document, selection: next };
      set({
        history: merge
          ? { ...amend(history, step), future: [] }
          : record({ ...history, present: { document: before, selection } }, step, {
              at: Date.now(),
              ...(typing === undefined ? {} : { key: typing }),
            }),
        selection: next,
        refusal: null,
      });
      onChange(outcome.document);
      if (outcome.removedTransitions) onRemoved(outcome.removedTransitions, () => get().undo());
      return outcome.select ?? true;
    },
    undo: () => {
      const history = undo(get().history);
      if (history === get().history) return;
      set({ history, selection: history.present.selection, naming: null, labelling: null, refusal: null });
      onChange(history.present.document);
    },
    redo: () => {
      const history = redo(get().history);
      if (history === get().history) return;
      set({ history, selection: history.present.selection, naming: null, labelling: null, refusal: null });
      onChange(history.present.document);
    },
    select: (ids) => {
      const { selection } = get();
      if (ids.length === selection.length && ids.every((id, index) => id === selection[index])) return;
      set({ selection: ids, refusal: null });
    },
    reveal: (id) => {
      get().select([id]);
      set({ shown: { id, count: get().shown.count + 1 } });
    },
    set: (change) => set(change),
    openDrawer: (tab) => set({ drawer: { open: true, tab } }),
  }));
}

/** Is the element still in the drawing? */
function exists({ layout }: EditorDocument, id: string): boolean {
  return layout.states[id] !== undefined || layout.routes[id] !== undefined;
}

const Store = createContext<EditorStore | null>(null);
export const EditorStoreProvider = Store.Provider;
export const useEditorStore = (): EditorStore =>
  must(useContext(Store), "the editor's parts live inside ChartEditor");
export function useEditor<T>(selector: (state: EditorState & EditorActions) => T): T {
  return useStore(useEditorStore(), selector);
}
export const useDocument = (): EditorDocument => useEditor((state) => state.history.present.document);
