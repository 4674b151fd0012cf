"use client";
/**
 * The editor's keys. None acts while a field has focus, but ⌘Z and ⇧⌘Z outside of one.
 */
import { useReactFlow } from "@xyflow/react";
import { useEffect } from "react";
import { fitOptions } from "@/components/canvas/canvas-controls";
import { chartTree } from "@/lib/diagram/chart-tree";
import { useEditorStore, type EditorStore } from "./editor-store";

const nudgePx = 6;

export function useEditorKeys(): void {
  const store = useEditorStore();
  const flow = useReactFlow();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isBusy(event.target)) return;
      const action = actionFor(event, store);
      if (action === null) {
        const view = viewKey(event, store);
        if (!view) return;
        event.preventDefault();
        view(flow);
        return;
      }
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [store, flow]);
}

function isBusy(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"][data-state="open"], [role="menu"][data-state="open"]'))
    return true;
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function actionFor(event: KeyboardEvent, store: EditorStore): (() => void) | null {
  const { run, undo, redo, set, select, selection, history, tool } = store.getState();
  const { chart, layout } = history.present.document;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.metaKey || event.ctrlKey) {
    if (key === "z") return event.shiftKey ? redo : undo;
    if (key === "y") return redo;
    if (key === "a") {
      return () => select(chartTree(chart).root.children.map((state) => state.name));
    }
    return null;
  }
  if (event.altKey) return null;
  const tree = () => chartTree(chart);
  const [only] = selection;
  const state = only === undefined ? undefined : tree().byName.get(only);
  switch (key) {
    case "Escape":
      if (tool !== "select") return () => set({ tool: "select" });
      return selection.length > 0 ? () => select([]) : null;
    case "Delete":
    case "Backspace": {
      if (selection.length === 0) return null;
      const states = selection.filter((id) => tree().byName.has(id));
      return () => run({ do: "delete", states, transitions: selection.filter((id) => !states.includes(id)) });
    }
    case "F2":
    case "Enter":
      if (key === "Enter" && event.target instanceof HTMLElement && event.target !== document.body)
        return null;
      if (state?.parent) return () => set({ naming: { id: state.name, fresh: false } });
      return only?.includes("#") ? () => set({ labelling: { id: only, fresh: false } }) : null;
    case "s":
      return () => set({ tool: "state" });
    case "t":
      return () => set({ tool: "transition" });
    case "p":
      if (!state?.parent) return null;
      return () =>
        run({ do: "set-kind", state: state.name, kind: state.kind === "parallel" ? "compound" : "parallel" });
    case "f":
      if (!state?.parent) return null;
      return () =>
        run({ do: "set-kind", state: state.name, kind: state.kind === "final" ? "atomic" : "final" });
    case "i":
      return state?.parent ? () => run({ do: "set-initial", state: state.name }) : null;
    case "ArrowLeft":
    case "ArrowRight":
    case "ArrowUp":
    case "ArrowDown": {
      const by = event.shiftKey ? nudgePx * 4 : nudgePx;
      const dx = key === "ArrowLeft" ? -by : key === "ArrowRight" ? by : 0;
      const dy = key === "ArrowUp" ? -by : key === "ArrowDown" ? by : 0;
      const places = Object.fromEntries(
        selection.flatMap((id) => {
          const box = layout.states[id];
          return box ? [[id, { x: box.x + dx, y: box.y + dy }]] : [];
        }),
      );
      if (Object.keys(places).length === 0) return null;
      return () =>
        run({ do: "move-states", places }, { typing: `nudge ${selection.join(" ")}`, select: false });
    }
    default:
      return null;
  }
}

type Flow = ReturnType<typeof useReactFlow>;

function viewKey(event: KeyboardEvent, store: EditorStore): ((flow: Flow) => void) | null {
  if (event.metaKey || event.ctrlKey || event.altKey) return null;
  if (event.shiftKey && event.code === "Digit0") return (flow) => void flow.zoomTo(1, { duration: 200 });
  if (event.shiftKey && event.code === "Digit1") return (flow) => void flow.fitView(fitOptions);
  if (event.shiftKey && event.code === "Digit2") {
    const { selection } = store.getState();
    return (flow) => void flow.fitView({ ...fitOptions, nodes: selection.map((id) => ({ id })) });
  }
  if (event.key === "+" || event.key === "=") return (flow) => void flow.zoomIn({ duration: 140 });
  if (event.key === "-") return (flow) => void flow.zoomOut({ duration: 140 });
  return null;
}
