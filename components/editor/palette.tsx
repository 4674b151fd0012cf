"use client";
/**
 * What can be added: a click puts it into the selected container, a drag puts it where it is dropped.
 */
import { Boxes, CircleDot, History, Rows2, Spline, Square, type LucideIcon } from "lucide-react";
import { chartTree } from "@/lib/diagram/chart-tree";
import type { StateKind } from "@/lib/editor/state-commands";
import { Kbd } from "@/components/ui/kbd";
import { paletteType } from "./editor-canvas";
import { useEditor, useEditorStore, type EditorStore } from "./editor-store";

const items: { kind: StateKind; word: string; icon: LucideIcon; key?: string }[] = [
  { kind: "atomic", word: "State", icon: Square, key: "S" },
  { kind: "compound", word: "Compound", icon: Boxes },
  { kind: "parallel", word: "Parallel", icon: Rows2 },
  { kind: "final", word: "Final", icon: CircleDot },
  { kind: "history", word: "History", icon: History },
];

export function Palette() {
  const store = useEditorStore();
  const set = useEditor((state) => state.set);
  const looks =
    "flex h-[25px] min-w-0 items-center gap-1 rounded-control border border-border-2 bg-surface px-1.5 text-hint text-text hover:bg-surface-2";
  return (
    <section aria-label="Add" className="border-t border-border px-1.5 py-2">
      <div className="mb-1.5 flex items-baseline justify-between px-1">
        <h3 className="text-hint font-semibold">Add</h3>
        <span className="text-micro text-text-3">click, or drag to canvas</span>
      </div>
      <div className="grid grid-cols-[1fr_1.2fr] gap-1">
        {items.map(({ kind, word, icon: Icon, key }) => (
          <button
            key={kind}
            type="button"
            draggable
            data-testid={`add-${kind}`}
            className={looks}
            onDragStart={(event) => event.dataTransfer.setData(paletteType, kind)}
            onClick={() => addToSelected(store, kind)}
          >
            <Icon size={13} aria-hidden className="shrink-0 text-text-2" />
            <span className="flex-1 truncate text-left">{word}</span>
            {key ? <Kbd className="h-4 min-w-4 text-micro">{key}</Kbd> : null}
          </button>
        ))}
        <button
          type="button"
          data-testid="add-transition"
          className={looks}
          onClick={() => set({ tool: "transition" })}
        >
          <Spline size={13} aria-hidden className="shrink-0 text-text-2" />
          <span className="flex-1 truncate text-left">Transition</span>
          <Kbd className="h-4 min-w-4 text-micro">T</Kbd>
        </button>
      </div>
    </section>
  );
}

/** Into the selected container, beside the selected leaf, else into the chart. */
function addToSelected(store: EditorStore, kind: StateKind): void {
  const { history, selection, run, set, reveal } = store.getState();
  const tree = chartTree(history.present.document.chart);
  const chosen = tree.byName.get(selection[0] ?? "");
  const isContainer = chosen && (chosen.children.length > 0 || chosen.parent?.kind === "parallel");
  const parent = (isContainer ? chosen : chosen?.parent) ?? tree.root;
  const made = run({ do: "add-state", parent: parent.name, kind });
  if (typeof made !== "string") return;
  reveal(made);
  if (kind !== "history") set({ naming: { id: made, fresh: true } });
}
