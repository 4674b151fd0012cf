"use client";
/**
 * The field in place of a transition's pill: `event [guard] / actions` in one line. What is wrong is said below it.
 */
import { useEffect, useRef, useState } from "react";
import { invokesOf } from "@/lib/diagram/chart-tree";
import { labelText, parseLabel, printLabel } from "@/lib/diagram/label";
import { findTransition } from "@/lib/editor/transition-commands";
import { useDocument, useEditor, type Naming } from "./editor-store";

export function LabelField({ labelling }: { labelling: Naming }) {
  const { chart } = useDocument();
  const run = useEditor((state) => state.run);
  const set = useEditor((state) => state.set);
  const [found] = useState(() => findTransition(chart, labelling.id));
  const invokes = found ? invokesOf(found.transition.source.node) : [];
  const [before] = useState(() =>
    found ? printLabel(labelText(found.transition.when, found.transition.spec, invokes)) : "",
  );
  const [text, setText] = useState(before);
  const [refused, setRefused] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  useEffect(() => {
    const frame = requestAnimationFrame(() => input.current?.select());
    return () => cancelAnimationFrame(frame);
  }, []);
  const parsed = parseLabel(text, invokes);
  const problem = refused ?? ("problem" in parsed ? parsed.problem.message : null);
  const finish = (keep: boolean) => {
    if (done.current) return;
    if (keep && text !== before) {
      if ("problem" in parsed) return;
      const changed = run({ do: "set-label", transition: labelling.id, text }, { merge: labelling.fresh });
      if (changed === false) {
        setRefused("That can't be read as a label.");
        return;
      }
    }
    done.current = true;
    set({ labelling: null });
  };
  return (
    <div className="relative">
      <input
        ref={input}
        value={text}
        aria-label="Transition: event [guard] / actions"
        aria-invalid={problem !== null}
        data-testid="label-field"
        spellCheck={false}
        autoComplete="off"
        placeholder="event [guard] / actions"
        className="rounded-chip border border-accent bg-surface px-2 text-center text-table shadow-2 outline-2 outline-accent-soft aria-invalid:border-failed"
        style={{ height: 24, width: `${Math.min(46, Math.max(16, text.length + 3))}ch` }}
        onChange={(event) => {
          setText(event.target.value);
          setRefused(null);
        }}
        onBlur={() => finish(true)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Enter") finish(true);
          if (event.key === "Escape") finish(false);
        }}
      />
      {problem === null ? null : (
        <p
          role="alert"
          className="absolute top-full left-1/2 mt-1 w-max max-w-72 -translate-x-1/2 rounded-control border border-border-2 bg-failed-soft px-2 py-1 text-hint text-failed shadow-2"
        >
          {problem}
        </p>
      )}
    </div>
  );
}
