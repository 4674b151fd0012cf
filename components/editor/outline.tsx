"use client";
/**
 * The chart as a tree: a full way to find, select, rename and re-parent states without the drawing.
 *
 * Holds: one tab stop; arrows walk and open, ↵ selects, F2 renames; the selected state is scrolled into view.
 */
import {
  AlignVerticalDistributeCenter,
  Boxes,
  ChevronDown,
  ChevronRight,
  CircleDot,
  History,
  Rows2,
  Square,
  Workflow,
} from "lucide-react";
import { useEffect, useMemo, useRef, useState, type DragEvent, type KeyboardEvent } from "react";
import { chartTree, type TreeState } from "@/lib/diagram/chart-tree";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import { cn } from "@/components/ui/class-names";
import { useDocument, useEditor } from "./editor-store";
import { NameField } from "./name-field";

const dragType = "application/x-lockstep-outline";

export function Outline() {
  const { chart } = useDocument();
  const chartId = useEditor((state) => state.chartId);
  const selection = useEditor((state) => state.selection);
  const select = useEditor((state) => state.select);
  const reveal = useEditor((state) => state.reveal);
  const run = useEditor((state) => state.run);
  const set = useEditor((state) => state.set);
  const naming = useEditor((state) => state.naming);
  const problems = useEditor((state) => state.problems);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [over, setOver] = useState<string | null>(null);
  const [inTree, setInTree] = useState(false);
  const list = useRef<HTMLUListElement>(null);

  const tree = useMemo(() => chartTree(chart), [chart]);
  const rows = useMemo(() => visible(tree.root, closed), [tree, closed]);
  const counts = useMemo(() => countProblems(problems), [problems]);
  const current = rows.find((row) => selection.includes(row.name)) ?? rows[0];

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [selection]);

  const toggle = (name: string, open: boolean) => {
    setClosed((before) => {
      const next = new Set(before);
      if (open) next.delete(name);
      else next.add(name);
      return next;
    });
  };
  const pick = (state: TreeState | undefined) => {
    if (!state) return;
    if (state.parent) reveal(state.name);
    else select([]);
    list.current?.querySelector<HTMLElement>(`[data-name="${CSS.escape(state.name)}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent, state: TreeState) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target instanceof HTMLInputElement) return;
    const at = rows.indexOf(state);
    const keys: Record<string, () => void> = {
      ArrowDown: () => pick(rows[at + 1]),
      ArrowUp: () => pick(rows[at - 1]),
      ArrowRight: () => (closed.has(state.name) ? toggle(state.name, true) : pick(state.children[0])),
      ArrowLeft: () =>
        state.children.length > 0 && !closed.has(state.name)
          ? toggle(state.name, false)
          : pick(state.parent ?? undefined),
      Enter: () => pick(state),
      " ": () => pick(state),
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };

  return (
    <ul
      ref={list}
      role="tree"
      aria-label="Outline"
      data-testid="outline"
      className="min-h-0 flex-1 overflow-y-auto py-1"
      onFocus={() => setInTree(true)}
      onBlur={() => setInTree(false)}
    >
      {rows.map((state) => {
        const isRoot = state.parent === null;
        const selected = isRoot ? selection.length === 0 && inTree : selection.includes(state.name);
        const count = counts.get(state.name);
        const hasChildren = state.children.length > 0;
        const open = hasChildren && !closed.has(state.name);
        const isRegion = state.parent?.kind === "parallel";
        const editing = naming?.id === state.name && !naming.fresh && inTree;
        const Icon = iconOf(state);
        return (
          <li
            key={state.name}
            role="treeitem"
            aria-level={state.depth + 1}
            aria-selected={selected}
            aria-expanded={hasChildren ? open : undefined}
            tabIndex={state === current ? 0 : -1}
            data-testid="outline-row"
            data-name={state.name}
            draggable={!isRoot && !editing}
            onDragStart={(event: DragEvent) => event.dataTransfer.setData(dragType, state.name)}
            onDragOver={(event) => {
              if (!event.dataTransfer.types.includes(dragType)) return;
              event.preventDefault();
              setOver(state.name);
            }}
            onDragLeave={() => setOver((name) => (name === state.name ? null : name))}
            onDrop={(event) => {
              setOver(null);
              const moved = event.dataTransfer.getData(dragType);
              if (moved === "" || moved === state.name) return;
              event.preventDefault();
              run({ do: "reparent-states", states: [moved], parent: state.name });
            }}
            onClick={() => pick(state)}
            onDoubleClick={() => {
              if (!isRoot) set({ naming: { id: state.name, fresh: false } });
            }}
            onKeyDown={(event) => onKeyDown(event, state)}
            className={cn(
              "relative flex h-[22px] items-center gap-1.5 pr-2 text-table text-text outline-none select-none hover:bg-surface-2 focus-visible:bg-surface-2",
              selected && "bg-accent-soft font-semibold hover:bg-accent-soft focus-visible:bg-accent-soft",
              over === state.name && "bg-accent-soft outline-2 -outline-offset-2 outline-accent",
            )}
            style={{ paddingLeft: 8 + state.depth * 14 }}
          >
            {selected ? <i aria-hidden className="absolute inset-y-0 left-0 w-0.5 bg-accent" /> : null}
            {hasChildren ? (
              <button
                type="button"
                tabIndex={-1}
                aria-label={open ? `Close ${state.key}` : `Open ${state.key}`}
                className="flex size-4 shrink-0 items-center justify-center rounded-kbd text-text-3 hover:bg-surface-3"
                onClick={(event) => {
                  event.stopPropagation();
                  toggle(state.name, !open);
                }}
              >
                {open ? <ChevronDown size={12} aria-hidden /> : <ChevronRight size={12} aria-hidden />}
              </button>
            ) : (
              <span className="w-4 shrink-0" />
            )}
            <Icon
              size={13}
              aria-hidden
              className={cn("shrink-0", selected ? "text-accent" : "text-text-3")}
            />
            {editing ? (
              <NameField naming={{ id: state.name, fresh: false }} title={state.key} />
            ) : (
              <span
                className={cn("min-w-0 flex-1 truncate", isRegion && !selected && "text-text-2 uppercase")}
              >
                {isRoot ? chartId : state.key}
              </span>
            )}
            {count ? (
              <span
                aria-label={`${count.n} ${count.severity === "error" ? "errors" : "warnings"}`}
                className={cn(
                  "inline-flex h-4 min-w-4 items-center justify-center rounded-chip px-1 text-micro font-semibold",
                  count.severity === "error" ? "bg-failed text-surface" : "bg-exited-soft text-exited",
                )}
              >
                {count.n}
              </span>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}

function visible(state: TreeState, closed: ReadonlySet<string>): TreeState[] {
  if (closed.has(state.name)) return [state];
  return [state, ...state.children.flatMap((child) => visible(child, closed))];
}

function iconOf(state: TreeState) {
  if (state.parent === null) return Workflow;
  if (state.parent.kind === "parallel" && state.kind !== "history") return AlignVerticalDistributeCenter;
  switch (state.kind) {
    case "compound":
      return Boxes;
    case "parallel":
      return Rows2;
    case "final":
      return CircleDot;
    case "history":
      return History;
    case "atomic":
      return Square;
  }
}

function countProblems(
  problems: readonly Diagnostic[],
): Map<string, { n: number; severity: "error" | "warning" }> {
  const counts = new Map<string, { n: number; severity: "error" | "warning" }>();
  for (const { severity, at } of problems) {
    if (severity === "info") continue;
    const known = counts.get(at.state);
    if (!known || (severity === "error" && known.severity === "warning"))
      counts.set(at.state, { n: 1, severity });
    else if (known.severity === severity) known.n++;
  }
  return counts;
}
