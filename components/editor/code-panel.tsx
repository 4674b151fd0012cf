"use client";
/**
 * The document as JSON. A valid text is applied as it is typed (one undo step per run of typing); an invalid one keeps
 * the last good drawing and says where it breaks.
 */
import { CircleX } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import { Button } from "@/components/ui/button";
import { CodeField } from "./code-field";
import { useDocument, useEditor } from "./editor-store";
import { draftText, readDraft } from "./read-draft";

const pauseMs = 300;

export function CodePanel() {
  const { chart } = useDocument();
  const run = useEditor((state) => state.run);
  const shown = draftText(chart);
  /** What is typed, and the document's text it was typed over. */
  const [edited, setEdited] = useState<{ over: string; text: string; wrong: Diagnostic[] } | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  // A change on the drawing replaces the text, unless unfinished typing is in it.
  const text = edited && (edited.over === shown || edited.wrong.length > 0) ? edited.text : shown;
  const wrong = text === shown ? [] : (edited?.wrong ?? []);
  const first = wrong[0];
  const apply = (next: string) => {
    const { chart: read, diagnostics } = readDraft(next);
    if (read === null) {
      setEdited({ over: shown, text: next, wrong: diagnostics });
      return;
    }
    if (JSON.stringify(read) !== JSON.stringify(chart))
      run({ do: "replace-chart", chart: read }, { typing: "code" });
    setEdited({ over: draftText(read), text: next, wrong: [] });
  };
  return (
    <div className="flex h-full flex-col">
      <div className="min-h-0 flex-1 overflow-hidden">
        <CodeField
          value={text}
          language="json"
          label="The chart as JSON"
          bare
          height="100%"
          testId="code"
          onChange={(next) => {
            if (next === text) return;
            setEdited({ over: shown, text: next, wrong });
            clearTimeout(timer.current);
            timer.current = setTimeout(() => apply(next), pauseMs);
          }}
        />
      </div>
      {first ? (
        <div
          role="alert"
          data-testid="code-problem"
          className="flex items-center gap-2 border-t border-border bg-failed-soft px-3 py-1.5 text-body"
        >
          <CircleX size={14} aria-hidden className="shrink-0 text-failed" />
          <span className="min-w-0 flex-1 truncate">
            {first.at.line === undefined ? "" : `Line ${first.at.line}, column ${first.at.column ?? 1}: `}
            {first.message}
            {wrong.length > 1 ? ` (and ${wrong.length - 1} more)` : ""}
          </span>
          <span className="shrink-0 text-hint text-text-2">The drawing shows the last valid text.</span>
          <Button size="sm" onClick={() => setEdited(null)}>
            Discard typing
          </Button>
        </div>
      ) : null}
    </div>
  );
}
