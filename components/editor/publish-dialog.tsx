"use client";
/**
 * Publishing: errors block and are listed; placeholders are asked about; a version, once made, stays.
 */
import { CircleCheck, CircleX, TriangleAlert } from "lucide-react";
import { useState } from "react";
import type { VersionView } from "@/lib/contract/charts";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Field, TextArea } from "@/components/ui/field";
import { ErrorPanel } from "@/components/ui/states";
import { useOneAtATime } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { checkChart } from "./check-chart";
import { useEditor, useEditorStore } from "./editor-store";

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** Saves what waits; the saved revision, or null when it can't be saved now. */
  flush: () => Promise<number | null>;
}

export function PublishDialog(props: Props) {
  return props.open ? <OpenDialog {...props} /> : null;
}

function OpenDialog({ open, onOpenChange, flush }: Props) {
  const client = useClient();
  const store = useEditorStore();
  const chartId = useEditor((state) => state.chartId);
  const version = useEditor((state) => state.version);
  const openDrawer = useEditor((state) => state.openDrawer);
  // Checked here and now: the worker's list may be a moment old.
  const [problems] = useState(() => checkChart(store.getState().history.present.document.chart));
  const [note, setNote] = useState("");
  const [accepted, setAccepted] = useState(false);
  const [busy, setBusy] = useState(false);
  const one = useOneAtATime();
  const [error, setError] = useState<unknown>(null);
  const [published, setPublished] = useState<VersionView | null>(null);
  const errors = problems.filter((problem) => problem.severity === "error");
  const placeholders = problems.filter((problem) => problem.code.includes("placeholder"));
  const warnings = problems.filter(
    (problem) => problem.severity === "warning" && !placeholders.includes(problem),
  );
  const next = (version ?? 0) + 1;

  const publish = async () => {
    setBusy(true);
    setError(null);
    try {
      const revision = await flush();
      if (revision === null) {
        setError(
          new Error("The draft isn't saved yet: publishing waits until it is. Look at the save chip above."),
        );
        return;
      }
      const made = await client.publishVersion({
        chartId,
        revision,
        ...(note.trim() === "" ? {} : { note: note.trim() }),
        ...(accepted ? { acceptPlaceholders: true } : {}),
      });
      setPublished(made);
      store.setState({ version: made.version });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };

  if (published) {
    return (
      <Dialog
        open={open}
        onOpenChange={onOpenChange}
        title={
          <>
            <CircleCheck size={17} aria-hidden className="text-active" /> {chartId} v{published.version} is
            published
          </>
        }
        testId="published-dialog"
        footer={
          <Button variant="ink" onClick={() => onOpenChange(false)}>
            Done
          </Button>
        }
      >
        <p>New instances start with it; running ones stay on their version.</p>
        <p className="mt-2 truncate font-mono text-hint text-text-3" title={published.hash}>
          sha256 {published.hash}
        </p>
      </Dialog>
    );
  }
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Publish ${chartId} v${next}`}
      description="A version is immutable. Running instances stay on theirs."
      testId="publish-dialog"
      footer={
        <>
          <Button variant="ghost" onClick={() => onOpenChange(false)}>
            Cancel
          </Button>
          <Button
            variant="ink"
            data-testid="publish-confirm"
            disabled={busy || errors.length > 0 || (placeholders.length > 0 && !accepted)}
            onClick={() => one(publish)}
          >
            Publish v{next}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {errors.length > 0 ? (
          <div data-testid="publish-errors" className="rounded-box bg-failed-soft px-3 py-2.5">
            <p className="flex items-center gap-2 font-semibold">
              <CircleX size={15} aria-hidden className="text-failed" />
              {errors.length === 1 ? "An error blocks" : `${errors.length} errors block`} publishing
            </p>
            <ProblemList problems={errors} />
            <Button
              size="sm"
              className="mt-2"
              onClick={() => {
                openDrawer("problems");
                onOpenChange(false);
              }}
            >
              Show in Problems
            </Button>
          </div>
        ) : null}
        {placeholders.length > 0 ? (
          <div className="rounded-box bg-exited-soft px-3 py-2.5">
            <p className="flex items-center gap-2 font-semibold">
              <TriangleAlert size={15} aria-hidden className="text-exited" />
              {placeholders.length === 1 ? "1 placeholder" : `${placeholders.length} placeholders`} stand for
              code that isn&apos;t here
            </p>
            <ProblemList problems={placeholders} />
            <label className="mt-2 flex items-start gap-2">
              <input
                type="checkbox"
                className="mt-0.5"
                data-testid="accept-placeholders"
                checked={accepted}
                onChange={(event) => setAccepted(event.target.checked)}
              />
              Publish with them: their guards are false, their actions do nothing, their delays never fire
            </label>
          </div>
        ) : null}
        {warnings.length > 0 ? (
          <details className="text-body">
            <summary className="text-text-2">
              {warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`}; they don&apos;t block
            </summary>
            <ProblemList problems={warnings} />
          </details>
        ) : null}
        <Field label="Note" hint="what changed, for whoever reads the versions">
          {(wiring) => (
            <TextArea
              {...wiring}
              rows={2}
              value={note}
              maxLength={2000}
              data-testid="publish-note"
              onChange={(event) => setNote(event.target.value)}
            />
          )}
        </Field>
        {error === null ? null : <ErrorPanel title={`v${next} was not published`} error={error} />}
      </div>
    </Dialog>
  );
}

function ProblemList({ problems }: { problems: readonly Diagnostic[] }) {
  return (
    <ul className="mt-1 max-h-40 list-disc overflow-y-auto pl-5 text-text-2">
      {problems.slice(0, 50).map((problem, index) => (
        <li key={index} className="break-words">
          {problem.message}
        </li>
      ))}
    </ul>
  );
}
