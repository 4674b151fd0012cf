"use client";
/**
 * The field in place of a state's name. ↵ or leaving it renames, Esc keeps the old name.
 */
import { useEffect, useRef, useState } from "react";
import { keyProblem } from "@/lib/editor/state-commands";
import { useEditor, type Naming } from "./editor-store";

export function NameField({ naming, title }: { naming: Naming; title: string }) {
  const run = useEditor((state) => state.run);
  const set = useEditor((state) => state.set);
  const [text, setText] = useState(title);
  const input = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  useEffect(() => {
    // React Flow focuses the node after a click; ours comes after.
    const frame = requestAnimationFrame(() => input.current?.select());
    return () => cancelAnimationFrame(frame);
  }, []);
  const problem = keyProblem(text.trim());
  const finish = (keep: boolean) => {
    if (done.current) return;
    const wanted = text.trim();
    if (keep && wanted !== title) {
      if (problem !== null) return set({ refusal: problem });
      const renamed = run({ do: "rename-state", state: naming.id, key: wanted }, { merge: naming.fresh });
      if (renamed === false) return;
    }
    done.current = true;
    set({ naming: null });
  };
  return (
    <input
      ref={input}
      value={text}
      aria-label={`Name of ${title}`}
      aria-invalid={problem !== null}
      data-testid="name-field"
      spellCheck={false}
      autoComplete="off"
      className="nodrag nopan -mx-1 w-full min-w-0 rounded-kbd border border-accent bg-surface px-1 text-title normal-case outline-2 outline-accent-soft aria-invalid:border-failed"
      style={{ fontWeight: 590, height: 20, letterSpacing: 0 }}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => finish(true)}
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") finish(true);
        if (event.key === "Escape") finish(false);
      }}
    />
  );
}
