"use client";
/**
 * Import by file, paste or drop: what was read is shown before anything is made, what could not be taken over too.
 *
 * Holds: nothing is created or replaced until the button is pressed; a text that can't be read says where it breaks.
 */
import { CircleX, FileUp, TriangleAlert } from "lucide-react";
import { useRef, useState } from "react";
import { LockstepError } from "@/lib/base/errors";
import { chartTree } from "@/lib/diagram/chart-tree";
import { importChart } from "@/lib/formats/import-chart";
import type { ImportResult } from "@/lib/formats/import-result";
import type { Chart } from "@/lib/statechart/document";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { Dialog } from "@/components/ui/dialog";
import { Field, Input, TextArea } from "@/components/ui/field";
import { ErrorPanel } from "@/components/ui/states";
import { useOneAtATime } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { firstLayout } from "./first-layout";
import { readChartFile } from "./read-chart-file";
import { draftText } from "./read-draft";

export interface ImportDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** A new chart was made on the server. */
  onImported?: (chartId: string) => void;
  /** Instead of making a chart: hands it over, to replace the draft of the chart named `into`. */
  onChart?: (chart: Chart) => void;
  into?: string;
}

const formatNames = { lockstep: "Lockstep", xstate: "XState", scxml: "SCXML", mermaid: "Mermaid" } as const;

export function ImportDialog(props: ImportDialogProps) {
  // Mounted anew each time, so that it opens empty.
  return props.open ? <OpenDialog {...props} /> : null;
}

function OpenDialog({ open, onOpenChange, onImported, onChart, into }: ImportDialogProps) {
  const client = useClient();
  const [text, setText] = useState("");
  const [fileName, setFileName] = useState<string | null>(null);
  /** Why the file is no text; null when it is, or when the text was typed. */
  const [refusal, setRefusal] = useState<ImportResult | null>(null);
  /** Counts what was put in: a slow file must not replace a later one. */
  const turn = useRef(0);
  const [id, setId] = useState("");
  const [idTouched, setIdTouched] = useState(false);
  const [over, setOver] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const one = useOneAtATime();
  const picker = useRef<HTMLInputElement>(null);
  const imported = useImport(text, fileName);
  const result = refusal ?? imported;
  const chart = result?.chart ?? null;
  const suggested = idTouched ? id : id || suggestId(result, fileName);

  const take = async (file: File) => {
    const mine = ++turn.current;
    setFileName(file.name);
    setError(null);
    setRefusal(null);
    setText("");
    try {
      const read = await readChartFile(file);
      if (mine !== turn.current) return;
      if (read.ok) setText(read.text);
      else setRefusal(read.refusal);
    } catch (failure) {
      if (mine === turn.current) setError(failure);
    }
  };
  const type = (next: string) => {
    turn.current++;
    setText(next);
    setFileName(null);
    setRefusal(null);
    setError(null);
  };
  const finish = async () => {
    if (chart === null) return;
    if (onChart) {
      onChart(chart);
      onOpenChange(false);
      return;
    }
    setBusy(true);
    setError(null);
    try {
      const layout = await firstLayout(chart);
      const made = await client.createChart({ id: suggested, text: draftText(chart), layout });
      // Closing first: it may rewrite the address that onImported then leaves.
      onOpenChange(false);
      onImported?.(made.id);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={into === undefined ? "Import a chart" : `Import into ${into}`}
      description="Lockstep JSON, XState v5 (JSON, or TypeScript / JavaScript source) or Stately JSON, SCXML 1.0, Mermaid stateDiagram"
      width={620}
      testId="import-dialog"
      footer={
        <>
          <Button variant="ghost" onClick={() => onOpenChange(false)}>
            Cancel
          </Button>
          <Button
            variant="ink"
            data-testid="import-confirm"
            disabled={chart === null || busy || (into === undefined && suggested === "")}
            onClick={() => one(finish)}
          >
            {into === undefined ? "Create chart" : "Replace the draft"}
          </Button>
        </>
      }
    >
      <div
        className="flex flex-col gap-3"
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          const [file] = event.dataTransfer.files;
          if (file) void take(file);
          else if (event.dataTransfer.getData("text")) type(event.dataTransfer.getData("text"));
        }}
      >
        <div
          className={cn(
            "flex items-center gap-3 rounded-box border border-dashed border-line px-3.5 py-3",
            over && "border-accent bg-accent-soft",
          )}
        >
          <FileUp size={18} aria-hidden className="shrink-0 text-text-3" />
          <p className="min-w-0 flex-1 truncate text-body text-text-2">
            {fileName === null ? "Drop a file here, choose one, or paste below" : fileName}
          </p>
          <Button onClick={() => picker.current?.click()}>Choose a file…</Button>
          <input
            ref={picker}
            type="file"
            hidden
            accept=".json,.scxml,.xml,.mmd,.mermaid,.ts,.tsx,.mts,.js,.jsx,.mjs,.cjs,.txt"
            data-testid="import-file"
            onChange={(event) => {
              const [file] = event.target.files ?? [];
              if (file) void take(file);
              // The same file may be chosen again, once it was saved anew.
              event.target.value = "";
            }}
          />
        </div>
        <TextArea
          mono
          rows={text === "" ? 9 : 6}
          aria-label="Text of the chart"
          data-testid="import-text"
          placeholder="Paste a chart"
          value={text.length > 200_000 ? `${text.slice(0, 200_000)}…` : text}
          readOnly={text.length > 200_000}
          onChange={(event) => type(event.target.value)}
        />
        {result ? <Preview result={result} what={refusal ? "This file" : "This text"} /> : null}
        {chart !== null && into === undefined ? (
          <Field label="Name" hint="in addresses and the API; it stays">
            {(wiring) => (
              <Input
                {...wiring}
                mono
                data-testid="import-id"
                value={suggested}
                onChange={(event) => {
                  setId(event.target.value);
                  setIdTouched(true);
                }}
              />
            )}
          </Field>
        ) : null}
        {error === null ? null : (
          <ErrorPanel
            title={
              error instanceof LockstepError && error.code === "chart-exists"
                ? `${suggested} exists already`
                : chart === null
                  ? "Couldn't read the file"
                  : "Couldn't create the chart"
            }
            error={error}
          />
        )}
      </div>
    </Dialog>
  );
}

function Preview({ result, what }: { result: ImportResult; what: string }) {
  const { chart, diagnostics, losses, placeholders, format } = result;
  if (chart === null) {
    return (
      <div
        role="alert"
        data-testid="import-problems"
        className="rounded-box bg-failed-soft px-3 py-2.5 text-body"
      >
        <p className="flex items-center gap-2 font-semibold">
          <CircleX size={15} aria-hidden className="text-failed" /> {what} can&apos;t be imported
        </p>
        <ul className="mt-1 max-h-40 overflow-y-auto text-text-2">
          {diagnostics.slice(0, 20).map((diagnostic, index) => (
            <li key={index} className="break-words">
              {diagnostic.at.line === undefined
                ? ""
                : `Line ${diagnostic.at.line}, column ${diagnostic.at.column ?? 1}: `}
              {diagnostic.message}
            </li>
          ))}
        </ul>
      </div>
    );
  }
  const tree = chartTree(chart);
  const count = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`;
  return (
    <div data-testid="import-preview" className="rounded-box border border-border-2 px-3 py-2.5 text-body">
      <p>
        <b className="font-semibold">{formatNames[format]}</b>: {count(tree.states.length - 1, "state")},{" "}
        {count(tree.transitions.length, "transition")}
        {placeholders > 0 ? (
          <span className="text-exited">
            , {count(placeholders, "placeholder")} for code it can&apos;t take over
          </span>
        ) : null}
      </p>
      {losses.length + diagnostics.length > 0 ? (
        <ul className="mt-1.5 flex max-h-36 flex-col gap-1 overflow-y-auto text-text-2">
          {[...losses, ...diagnostics.map((item) => ({ message: item.message, line: item.at.line }))]
            .slice(0, 100)
            .map((loss, index) => (
              <li key={index} className="flex gap-2">
                <TriangleAlert size={13} aria-hidden className="mt-0.5 shrink-0 text-exited" />
                <span className="min-w-0 break-words">
                  {loss.line === undefined ? "" : `Line ${loss.line}: `}
                  {loss.message}
                </span>
              </li>
            ))}
        </ul>
      ) : (
        <p className="mt-0.5 text-text-2">Everything was taken over.</p>
      )}
    </div>
  );
}

/** Reads the text once per text. Bounded by the importer, so that it may run as one types. */
function useImport(text: string, fileName: string | null): ImportResult | null {
  const [read, setRead] = useState<{ text: string; result: ImportResult } | null>(null);
  if (text.trim() === "") return null;
  if (read?.text === text) return read.result;
  const result = importChart(text, fileName === null ? {} : { fileName });
  setRead({ text, result });
  return result;
}

/** The chart's own name or the file's, as an id. */
function suggestId(result: ImportResult | null, fileName: string | null): string {
  const base = result?.name ?? fileName?.replace(/\.[^.]+$/, "") ?? "";
  return base
    .trim()
    .replace(/[^A-Za-z0-9._:@-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 128);
}
