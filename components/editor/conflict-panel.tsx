"use client";
/**
 * Somebody saved a newer revision while this one was edited: both are there, nothing is lost, and the work goes on while
 * one chooses. Beside the drawing, never over it as a dialog.
 */
import { GitMerge } from "lucide-react";
import { useMemo } from "react";
import { differences, type Difference } from "@/lib/editor/compare";
import { Button } from "@/components/ui/button";
import type { TheirDraft } from "./draft-saver";
import { download } from "./download";
import { useDocument, useEditor } from "./editor-store";
import { draftText, readDraft } from "./read-draft";

export function ConflictPanel({
  onKeepMine,
  onTakeTheirs,
}: {
  onKeepMine: () => void;
  onTakeTheirs: (theirs: TheirDraft) => void;
}) {
  const save = useEditor((state) => state.save);
  const revision = useEditor((state) => state.revision);
  const chartId = useEditor((state) => state.chartId);
  const { chart } = useDocument();
  const theirs = save.kind === "conflict" ? save.theirs : null;
  const theirChart = useMemo(() => (theirs === null ? null : readDraft(theirs.text).chart), [theirs]);
  const changes = useMemo(
    () => (theirChart === null ? [] : differences(theirChart, chart)),
    [theirChart, chart],
  );
  if (theirs === null) return null;
  return (
    <aside
      role="alertdialog"
      aria-modal="false"
      aria-label="Conflict"
      data-testid="conflict"
      className="absolute top-3 right-3 z-400 w-[360px] rounded-card border border-border-2 bg-surface p-3.5 shadow-2"
    >
      <p className="flex items-center gap-2 font-semibold text-failed">
        <GitMerge size={15} aria-hidden /> {theirs.savedBy} saved r{theirs.revision}
      </p>
      <p className="mt-1 text-body text-text-2">
        Yours is based on r{revision} and kept here. You can go on editing; nothing is sent until you choose.
      </p>
      <div className="mt-2.5 rounded-control border border-border-2 px-2.5 py-2">
        <p className="text-hint font-medium">
          {changes.length === 0
            ? theirChart === null
              ? "Their text is no valid chart"
              : "Only the layout differs"
            : `${changes.length === 1 ? "1 difference" : `${changes.length} differences`}, yours against r${theirs.revision}`}
        </p>
        <ul className="mt-1 max-h-32 overflow-y-auto font-mono text-hint text-text-2">
          {changes.slice(0, 40).map((change) => (
            <li key={`${change.kind} ${change.id}`} className="truncate">
              <Sign change={change.change} /> {change.id || chartId}
            </li>
          ))}
        </ul>
      </div>
      <div className="mt-3 flex items-center gap-2">
        <Button variant="ink" onClick={onKeepMine} data-testid="keep-mine">
          Keep mine
        </Button>
        <Button onClick={() => onTakeTheirs(theirs)} data-testid="take-theirs">
          Take r{theirs.revision}
        </Button>
        <Button
          variant="ghost"
          className="ml-auto"
          onClick={() => download(`${chartId}-mine.json`, draftText(chart))}
        >
          Download mine
        </Button>
      </div>
      <p className="mt-2 text-hint text-text-3">
        Keep mine saves yours as r{theirs.revision + 1}. Take r{theirs.revision} is undone with ⌘Z.
      </p>
    </aside>
  );
}

function Sign({ change }: { change: Difference["change"] }) {
  const sign = { added: "+", removed: "−", changed: "~" }[change];
  const tone = { added: "text-active", removed: "text-failed", changed: "text-exited" }[change];
  return (
    <b className={tone} aria-label={change}>
      {sign}
    </b>
  );
}
