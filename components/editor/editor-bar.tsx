"use client";
/**
 * The bar above the editor: where it is, whether it is saved, undo, layout, import and export, problems, publish.
 */
import {
  CircleCheck,
  CircleX,
  Download,
  Ellipsis,
  FileInput,
  Redo2,
  TriangleAlert,
  Undo2,
  Workflow,
} from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "@/components/ui/button";
import { Token } from "@/components/ui/chip";
import { Menu } from "@/components/ui/menu";
import { PageHeader } from "@/components/ui/page-header";
import { Tooltip } from "@/components/ui/tooltip";
import { useEditor } from "./editor-store";
import { ExportDialog } from "./export-dialog";
import { ImportDialog } from "./import-dialog";
import { PublishDialog } from "./publish-dialog";
import { SaveChip } from "./save-chip";
import { useAutoLayout } from "./use-auto-layout";

export function EditorBar({ flush }: { flush: () => Promise<number | null> }) {
  const chartId = useEditor((state) => state.chartId);
  const revision = useEditor((state) => state.revision);
  const version = useEditor((state) => state.version);
  const problems = useEditor((state) => state.problems);
  const canUndo = useEditor((state) => state.history.past.length > 0);
  const canRedo = useEditor((state) => state.history.future.length > 0);
  const undo = useEditor((state) => state.undo);
  const redo = useEditor((state) => state.redo);
  const openDrawer = useEditor((state) => state.openDrawer);
  const run = useEditor((state) => state.run);
  const autoLayout = useAutoLayout();
  const [publishing, setPublishing] = useState(false);
  const [importing, setImporting] = useState(false);
  const [exporting, setExporting] = useState(false);
  const errors = problems.filter((problem) => problem.severity === "error").length;
  const warnings = problems.filter((problem) => problem.severity === "warning").length;
  return (
    <>
      <PageHeader
        crumbs={[{ label: "Charts", href: "/charts" }]}
        title={chartId}
        actions={
          <>
            <Tooltip text="Undo" keys="⌘Z">
              <IconButton label="Undo" disabled={!canUndo} onClick={undo} data-testid="undo">
                <Undo2 size={15} aria-hidden />
              </IconButton>
            </Tooltip>
            <Tooltip text="Redo" keys="⇧⌘Z">
              <IconButton label="Redo" disabled={!canRedo} onClick={redo} data-testid="redo">
                <Redo2 size={15} aria-hidden />
              </IconButton>
            </Tooltip>
            <Menu
              trigger={
                <IconButton label="More" data-testid="editor-menu">
                  <Ellipsis size={16} aria-hidden />
                </IconButton>
              }
              items={[
                {
                  label: "Lay out to the right",
                  icon: Workflow,
                  onSelect: () => void autoLayout("right"),
                  testId: "layout-right",
                },
                {
                  label: "Lay out downwards",
                  icon: Workflow,
                  onSelect: () => void autoLayout("down"),
                  testId: "layout-down",
                },
                {
                  label: "Import…",
                  icon: FileInput,
                  onSelect: () => setImporting(true),
                  testId: "menu-import",
                },
                {
                  label: "Export…",
                  icon: Download,
                  testId: "menu-export",
                  onSelect: () => setExporting(true),
                },
              ]}
            />
            <Button onClick={() => void autoLayout("best")} data-testid="auto-layout">
              <Workflow size={14} aria-hidden /> Auto-layout
            </Button>
            <Button onClick={() => openDrawer("problems")} data-testid="problems-button">
              {errors > 0 ? (
                <CircleX size={14} aria-hidden className="text-failed" />
              ) : warnings > 0 ? (
                <TriangleAlert size={14} aria-hidden className="text-exited" />
              ) : (
                <CircleCheck size={14} aria-hidden className="text-text-3" />
              )}
              {errors > 0
                ? `${errors} ${errors === 1 ? "error" : "errors"}`
                : warnings > 0
                  ? `${warnings} ${warnings === 1 ? "warning" : "warnings"}`
                  : "No problems"}
            </Button>
            <Button variant="ink" onClick={() => setPublishing(true)} data-testid="publish">
              Publish v{(version ?? 0) + 1}…
            </Button>
          </>
        }
      >
        <Token data-testid="revision">draft r{revision}</Token>
        {version === null ? null : <span className="shrink-0 text-body text-text-3">from v{version}</span>}
        <SaveChip />
      </PageHeader>
      <PublishDialog open={publishing} onOpenChange={setPublishing} flush={flush} />
      <ExportDialog open={exporting} onOpenChange={setExporting} />
      <ImportDialog
        open={importing}
        onOpenChange={setImporting}
        into={chartId}
        onChart={(chart) => {
          run({ do: "replace-chart", chart, layout: { direction: "right", states: {}, routes: {} } });
          void autoLayout("best", { merge: true });
        }}
      />
    </>
  );
}
