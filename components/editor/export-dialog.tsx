"use client";
/**
 * Export: the formats, what the chosen one cannot say, and then the file.
 *
 * Holds: losses are shown before anything is downloaded; the chart is the draft as it stands on the screen.
 */
import { CircleCheck, CircleX, Download, TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { emptyLayout } from "@/lib/diagram/layout";
import type { ExportFormat, ExportResult } from "@/lib/formats/export-chart";
import type { Loss } from "@/lib/formats/import-result";
import { hasErrors } from "@/lib/statechart/diagnostic";
import { validateChart } from "@/lib/statechart/validate";
import { elkClient } from "@/components/canvas/elk-client";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { Dialog } from "@/components/ui/dialog";
import { ErrorPanel } from "@/components/ui/states";
import { canvasSize } from "./canvas-size";
import { download } from "./download";
import { useEditorStore, type EditorState } from "./editor-store";
import { pngOf } from "./png-of";

type Format = ExportFormat | "svg" | "png";

const formats: readonly { format: Format; name: string; hint: string; extension: string; type: string }[] = [
  {
    format: "lockstep",
    name: "Lockstep JSON",
    hint: "The chart itself, canonical",
    extension: ".json",
    type: "application/json",
  },
  {
    format: "xstate",
    name: "XState JSON",
    hint: "Machine config, its expressions CEL",
    extension: ".xstate.json",
    type: "application/json",
  },
  {
    format: "module",
    name: "TypeScript",
    hint: "A machine of XState 5 that runs",
    extension: ".ts",
    type: "text/plain",
  },
  {
    format: "scxml",
    name: "SCXML",
    hint: "W3C SCXML 1.0, its expressions CEL",
    extension: ".scxml",
    type: "application/xml",
  },
  {
    format: "mermaid",
    name: "Mermaid",
    hint: "stateDiagram-v2, for Markdown",
    extension: ".mmd",
    type: "text/plain",
  },
  {
    format: "svg",
    name: "SVG",
    hint: "The drawing, its text as text",
    extension: ".svg",
    type: "image/svg+xml",
  },
  { format: "png", name: "PNG", hint: "The drawing in pixels", extension: ".png", type: "image/png" },
];

interface Exported {
  format: Format;
  content: string | Blob;
  losses: Loss[];
}

export function ExportDialog({
  open,
  onOpenChange,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  // Mounted anew each time: it shows the draft as it is then.
  return open ? <OpenDialog onOpenChange={onOpenChange} /> : null;
}

function OpenDialog({ onOpenChange }: { onOpenChange: (open: boolean) => void }) {
  const store = useEditorStore();
  const [format, setFormat] = useState<Format>("lockstep");
  const [made, setMade] = useState<Exported | null>(null);
  const [error, setError] = useState<unknown>(null);
  const chosen = formats.find((one) => one.format === format);
  const ready = made?.format === format ? made : null;
  const invalid = hasErrors(validateChart(store.getState().history.present.document.chart).diagnostics);

  useEffect(() => {
    let live = true;
    if (invalid) return;
    make(format, store.getState()).then(
      (result) => {
        if (live) setMade(result);
      },
      (failure: unknown) => {
        if (live) setError(failure);
      },
    );
    return () => {
      live = false;
    };
  }, [format, invalid, store]);

  const save = () => {
    if (ready === null || chosen === undefined) return;
    download(`${store.getState().chartId}${chosen.extension}`, ready.content, chosen.type);
    onOpenChange(false);
  };
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={`Export ${store.getState().chartId}`}
      description="The draft as it stands"
      width={560}
      testId="export-dialog"
      footer={
        <>
          <Button variant="ghost" onClick={() => onOpenChange(false)}>
            Cancel
          </Button>
          <Button
            variant="ink"
            data-testid="export-confirm"
            disabled={ready === null || error !== null}
            onClick={save}
          >
            <Download size={14} aria-hidden /> Download {chosen?.extension}
          </Button>
        </>
      }
    >
      <fieldset className="grid grid-cols-2 gap-1.5">
        <legend className="sr-only">Format</legend>
        {formats.map((one) => (
          <label
            key={one.format}
            className={cn(
              "flex cursor-default items-start gap-2.5 rounded-box border border-border-2 px-3 py-2 has-focus-visible:outline-2 has-focus-visible:outline-accent",
              one.format === format && "border-accent bg-accent-soft",
            )}
          >
            <input
              type="radio"
              name="export-format"
              className="mt-1 accent-accent"
              data-testid={`export-${one.format}`}
              checked={one.format === format}
              onChange={() => {
                setError(null);
                setFormat(one.format);
              }}
            />
            <span className="min-w-0">
              <span className="block text-body font-semibold">{one.name}</span>
              <span className="block text-hint text-text-2">{one.hint}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <div className="mt-3 min-h-16" aria-live="polite">
        {invalid ? (
          <p
            role="alert"
            className="flex items-center gap-2 rounded-box bg-failed-soft px-3 py-2.5 text-body"
          >
            <CircleX size={15} aria-hidden className="shrink-0 text-failed" />
            The draft&apos;s document has errors in its shape: mend what Problems lists first.
          </p>
        ) : error !== null ? (
          <ErrorPanel title={`Couldn't write ${chosen?.name ?? ""}`} error={error} />
        ) : ready === null ? (
          <p className="text-body text-text-3">Writing…</p>
        ) : (
          <Losses losses={ready.losses} name={chosen?.name ?? ""} />
        )}
      </div>
    </Dialog>
  );
}

function Losses({ losses, name }: { losses: readonly Loss[]; name: string }) {
  if (losses.length === 0)
    return (
      <p className="flex items-center gap-2 text-body text-text-2" data-testid="export-lossless">
        <CircleCheck size={14} aria-hidden className="shrink-0 text-text-3" /> Nothing is lost.
      </p>
    );
  return (
    <div data-testid="export-losses" className="rounded-box border border-border-2 px-3 py-2.5 text-body">
      <p className="font-semibold">
        {name} can&apos;t say {losses.length === 1 ? "one thing" : `${losses.length} things`}
      </p>
      <ul className="mt-1.5 flex max-h-44 flex-col gap-1 overflow-y-auto text-text-2">
        {losses.map(({ message, state }, index) => (
          <li key={index} className="flex gap-2">
            <TriangleAlert size={13} aria-hidden className="mt-0.5 shrink-0 text-exited" />
            <span className="min-w-0 break-words">
              {state === undefined || state === "" ? "" : <b className="font-semibold">{state}: </b>}
              {message}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Writers are loaded when they are asked for: most visits to the editor export nothing. */
async function make(format: Format, { history, measure, chartId }: EditorState): Promise<Exported> {
  const { chart, layout } = history.present.document;
  if (format !== "svg" && format !== "png") {
    const { exportChart } = await import("@/lib/formats/export-chart");
    const { text, losses }: ExportResult = exportChart(chart, format);
    return { format, content: text, losses };
  }
  const [{ buildScene }, { completeLayout }, { writeSvg }] = await Promise.all([
    import("@/lib/diagram/scene"),
    import("@/lib/diagram/complete-layout"),
    import("@/lib/formats/svg/write-svg"),
  ]);
  const scene = buildScene(chart, { rootTitle: chartId });
  const placed = await completeLayout(scene, layout ?? emptyLayout, measure, elkClient, canvasSize());
  const svg = writeSvg(scene, placed.layout, measure);
  const losses = placed.failure === null ? [] : [{ message: `Laid out in a grid: ${placed.failure}` }];
  return { format, content: format === "svg" ? svg : await pngOf(svg), losses };
}
