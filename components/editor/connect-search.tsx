"use client";
/**
 * `T`: a transition without the pointer. Type the target's name, ↵ connects the selected state to it.
 */
import { Panel } from "@xyflow/react";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { chartTree } from "@/lib/diagram/chart-tree";
import { cn } from "@/components/ui/class-names";
import { useDocument, useEditor } from "./editor-store";

const shownMax = 8;

export function ConnectSearch() {
  const tool = useEditor((state) => state.tool);
  return tool === "transition" ? <Search /> : null;
}

function Search() {
  const { chart } = useDocument();
  const selection = useEditor((state) => state.selection);
  const run = useEditor((state) => state.run);
  const set = useEditor((state) => state.set);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const tree = useMemo(() => chartTree(chart), [chart]);
  const source = selection.map((id) => tree.byName.get(id)).find((state) => state?.parent);
  useEffect(() => input.current?.focus(), [source]);
  const wanted = text.trim().toLowerCase();
  const found = tree.states
    .filter((state) => state.parent && state.name.toLowerCase().includes(wanted))
    .slice(0, shownMax);
  const close = () => set({ tool: "select" });
  const connect = (target: string | undefined) => {
    if (!source || target === undefined) return;
    close();
    const made = run({ do: "add-transition", source: source.name, target });
    if (typeof made === "string" && made.includes("#on/")) set({ labelling: { id: made, fresh: true } });
  };
  return (
    <Panel position="top-center" className="!m-3">
      <div
        className="w-80 rounded-box border border-border-2 bg-surface p-1.5 shadow-2"
        data-testid="connect-search"
      >
        {source ? (
          <>
            <input
              ref={input}
              value={text}
              role="combobox"
              aria-expanded="true"
              aria-controls={listId}
              aria-activedescendant={found[at] ? `${listId}-${at}` : undefined}
              aria-label={`Transition from ${source.key} to`}
              placeholder={`${source.key} → state`}
              spellCheck={false}
              autoComplete="off"
              className="h-7 w-full rounded-control border border-line bg-surface px-2 text-body"
              onChange={(event) => {
                setText(event.target.value);
                setAt(0);
              }}
              onKeyDown={(event) => {
                event.stopPropagation();
                if (event.key === "Escape") close();
                if (event.key === "Enter") connect(found[at]?.name);
                if (event.key === "ArrowDown") setAt((now) => Math.min(found.length - 1, now + 1));
                if (event.key === "ArrowUp") setAt((now) => Math.max(0, now - 1));
              }}
            />
            <ul id={listId} role="listbox" aria-label="Targets" className="mt-1">
              {found.map((state, index) => (
                <li
                  key={state.name}
                  id={`${listId}-${index}`}
                  role="option"
                  aria-selected={index === at}
                  className={cn(
                    "flex h-7 cursor-default items-center gap-2 rounded-chip px-2 text-body hover:bg-surface-2",
                    index === at && "bg-surface-2",
                  )}
                  onClick={() => connect(state.name)}
                >
                  <span className="truncate">{state.key}</span>
                  <span className="ml-auto truncate text-hint text-text-3">{state.parent?.key}</span>
                </li>
              ))}
            </ul>
          </>
        ) : (
          <p className="px-2 py-1 text-body text-text-2">
            Drag from a state&apos;s border to connect, or select a state and press T again.
          </p>
        )}
      </div>
    </Panel>
  );
}
