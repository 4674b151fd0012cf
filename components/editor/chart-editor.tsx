"use client";
/**
 * The editor page's content: loads a draft, draws it, saves it as it changes.
 *
 * Holds: work this browser kept from before a reload is taken up again, or shown as a conflict when the server has a
 * newer revision; leaving the page loses nothing.
 */
import { MiniMap, ReactFlowProvider } from "@xyflow/react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import type { ChartView } from "@/lib/contract/charts";
import { completeLayout } from "@/lib/diagram/complete-layout";
import type { Layout } from "@/lib/diagram/layout";
import type { Measure } from "@/lib/diagram/measure";
import { buildScene } from "@/lib/diagram/scene";
import type { EditorDocument } from "@/lib/editor/document";
import type { Chart } from "@/lib/statechart/document";
import { elkClient } from "@/components/canvas/elk-client";
import { collapsedIn, useMeasure } from "@/components/canvas/use-placed";
import { canvasSize } from "./canvas-size";
import { ErrorPanel } from "@/components/ui/states";
import { showToast } from "@/components/ui/toast";
import { useClient } from "@/components/ui/use-client";
import { Breadcrumbs } from "./breadcrumbs";
import { ConflictPanel } from "./conflict-panel";
import { DraftSaver, type TheirDraft } from "./draft-saver";
import { Drawer } from "./drawer";
import { EditorBar } from "./editor-bar";
import { EditorCanvas } from "./editor-canvas";
import { EditorFrame } from "./editor-frame";
import { createEditorStore, EditorStoreProvider, useEditor, type EditorStore } from "./editor-store";
import { Inspector } from "./inspector";
import { keepWork, keptWork } from "./kept-work";
import { Outline } from "./outline";
import { Palette } from "./palette";
import { draftText, readDraft } from "./read-draft";
import { useEditorKeys } from "./use-editor-keys";
import { useProblems } from "./use-problems";
import { UnreadableDraft } from "./unreadable-draft";

export function ChartEditor({ chartId }: { chartId: string }) {
  const client = useClient();
  const measure = useMeasure();
  const query = useQuery({
    queryKey: ["chart-draft", chartId],
    queryFn: () => client.getChart({ chartId }),
    // An open draft is the editor's own; changes of others come as conflicts, never as a silent reload.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (query.error) {
    return (
      <div className="p-4">
        <ErrorPanel
          title={`${chartId} can't be opened`}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      </div>
    );
  }
  if (!query.data || !measure) return <EditorFrame chartId={chartId} />;
  return <LoadedEditor key={chartId} view={query.data} measure={measure} />;
}

/** What the editor opens with: the server's draft, or work kept here. */
interface Opening {
  chart: Chart;
  layout: Layout;
  /** Kept work to save, or to choose about. */
  kept: "none" | "unsaved" | "conflict";
}

function openDraft(view: ChartView): Opening | null {
  const { draft } = view;
  const layout = draft.layout as Layout;
  const server = readDraft(draft.text).chart;
  const kept = keptWork(view.id);
  const mine = kept && readDraft(kept.draft.text).chart;
  const same =
    kept?.draft.text === draft.text && JSON.stringify(kept.draft.layout) === JSON.stringify(layout);
  if (kept && mine && !same) {
    return {
      chart: mine,
      layout: kept.draft.layout,
      kept: kept.baseRevision === draft.revision ? "unsaved" : "conflict",
    };
  }
  return server && { chart: server, layout, kept: "none" };
}

function LoadedEditor({ view, measure }: { view: ChartView; measure: Measure }) {
  const [opening, setOpening] = useState(() => openDraft(view));
  const [start, setStart] = useState<{ document: EditorDocument; kept: Opening["kept"] } | null>(null);
  useEffect(() => {
    if (!opening) return;
    let live = true;
    const { chart, layout, kept } = opening;
    const scene = buildScene(chart, { collapsed: collapsedIn(layout) });
    void completeLayout(scene, layout, measure, elkClient, canvasSize()).then((placed) => {
      if (!live) return;
      setStart({ document: { chart, layout: placed.layout }, kept });
      if (placed.failure !== null) showToast(placed.failure);
    });
    return () => {
      live = false;
    };
  }, [opening, measure]);
  if (!opening) {
    return (
      <UnreadableDraft
        chartId={view.id}
        text={view.draft.text}
        onMended={(chart) => setOpening({ chart, layout: view.draft.layout as Layout, kept: "unsaved" })}
      />
    );
  }
  if (!start) return <EditorFrame chartId={view.id} />;
  return <OpenEditor view={view} measure={measure} start={start.document} kept={start.kept} />;
}

function OpenEditor({
  view,
  measure,
  start,
  kept,
}: {
  view: ChartView;
  measure: Measure;
  start: EditorDocument;
  kept: Opening["kept"];
}) {
  const client = useClient();
  const { store, saver, flush } = useMemo(
    () => connect(view, measure, start, kept, client),
    // One store per opened draft.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [],
  );
  const taken = useRef(false);
  useEffect(() => {
    saver.resume();
    if (!taken.current) takeUp(saver, view, start, kept);
    taken.current = true;
    const onLeave = (event: BeforeUnloadEvent) => {
      // Kept here: only work the browser had no room for makes it ask.
      if (saver.hasUnsaved && keptWork(view.id) === null) event.preventDefault();
    };
    const onOnline = () => saver.flush();
    window.addEventListener("beforeunload", onLeave);
    window.addEventListener("online", onOnline);
    return () => {
      window.removeEventListener("beforeunload", onLeave);
      window.removeEventListener("online", onOnline);
      saver.flush();
      saver.stop();
    };
  }, [saver, view, start, kept]);
  const takeTheirs = (theirs: TheirDraft) => {
    const { chart } = readDraft(theirs.text);
    if (chart === null) {
      showToast("Their text is no valid chart; open it after a reload to mend it.");
      return;
    }
    saver.takeTheirs();
    store.getState().run({ do: "replace-chart", chart, layout: theirs.layout }, { select: false });
  };
  return (
    <EditorStoreProvider value={store}>
      <ReactFlowProvider>
        <Page flush={flush} onKeepMine={() => saver.keepMine()} onTakeTheirs={takeTheirs} />
      </ReactFlowProvider>
    </EditorStoreProvider>
  );
}

function Page({
  flush,
  onKeepMine,
  onTakeTheirs,
}: {
  flush: () => Promise<number | null>;
  onKeepMine: () => void;
  onTakeTheirs: (theirs: TheirDraft) => void;
}) {
  useEditorKeys();
  useProblems();
  return (
    <div className="flex min-h-0 flex-1 flex-col" data-testid="editor">
      <EditorBar flush={flush} />
      <div className="flex min-h-0 flex-1">
        <aside
          aria-label="Outline and palette"
          className="flex w-[220px] shrink-0 flex-col border-r border-border bg-surface"
        >
          <h2 className="flex h-8 shrink-0 items-center px-3 text-body font-semibold">Outline</h2>
          <Outline />
          <Palette />
          <div className="le-minimap h-[104px] shrink-0 border-t border-border p-2">
            <div className="h-full overflow-hidden rounded-control border border-border bg-surface-2">
              <MiniMap
                style={{ width: 202, height: 86 }}
                pannable
                zoomable
                ariaLabel="Minimap"
                offsetScale={2}
                nodeColor={(node) => (node.zIndex === 150 ? "var(--border-2)" : "var(--surface)")}
                nodeStrokeColor="var(--border-2)"
                nodeStrokeWidth={4}
                nodeBorderRadius={12}
                maskColor="transparent"
                maskStrokeColor="var(--accent)"
                maskStrokeWidth={3}
                bgColor="transparent"
              />
            </div>
          </div>
        </aside>
        <div className="flex min-w-0 flex-1 flex-col">
          <div className="relative min-h-0 flex-1">
            <EditorCanvas />
            <Breadcrumbs />
            <ConflictPanel onKeepMine={onKeepMine} onTakeTheirs={onTakeTheirs} />
            <Announcer />
          </div>
          <Drawer />
        </div>
        <aside
          aria-label="Inspector"
          data-testid="inspector"
          className="w-[320px] shrink-0 overflow-y-auto border-l border-border bg-surface"
        >
          <Inspector />
        </aside>
      </div>
    </div>
  );
}

/** Says what is selected to a screen reader. */
function Announcer() {
  const selection = useEditor((state) => state.selection);
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {selection.length === 0 ? "" : `Selected ${selection.join(", ")}`}
    </p>
  );
}

const toDraft = ({ chart, layout }: EditorDocument) => ({ text: draftText(chart), layout });

/** Work kept here goes on being saved, or waits for a choice. */
function takeUp(
  saver: DraftSaver,
  { draft }: ChartView,
  document: EditorDocument,
  kept: Opening["kept"],
): void {
  if (kept === "unsaved") saver.change(toDraft(document));
  if (kept !== "conflict") return;
  saver.conflict(toDraft(document), {
    revision: draft.revision,
    text: draft.text,
    layout: draft.layout as Layout,
    savedBy: draft.savedBy,
  });
}

interface Connected {
  store: EditorStore;
  saver: DraftSaver;
  flush: () => Promise<number | null>;
}

/** The store with its saver: what changes there is saved here, and what was drawn at opening before publishing. */
function connect(
  view: ChartView,
  measure: Measure,
  document: EditorDocument,
  kept: Opening["kept"],
  client: ReturnType<typeof useClient>,
): Connected {
  // A draft that was stored without places is drawn at opening. Looking at it saves nothing; a version made of it must
  // hold the drawing its designer saw.
  let drawnHere = kept === "none" && document.layout !== view.draft.layout;
  const saver = new DraftSaver(
    {
      save: (baseRevision, draft) => client.saveDraft({ chartId: view.id, baseRevision, ...draft }),
      fetch: async () => {
        const { draft } = await client.getChart({ chartId: view.id });
        return {
          revision: draft.revision,
          text: draft.text,
          layout: draft.layout as Layout,
          savedBy: draft.savedBy,
        };
      },
      keep: (work) => keepWork(view.id, work),
      onChange: ({ status, revision }) => store.setState({ save: status, revision }),
      now: () => Date.now(),
      wait: (ms, then) => {
        const timer = setTimeout(then, ms);
        return () => clearTimeout(timer);
      },
    },
    view.draft.revision,
    view.draft.savedAt,
  );
  const store = createEditorStore({
    chartId: view.id,
    document,
    measure,
    revision: view.draft.revision,
    version: view.version,
    savedAt: view.draft.savedAt,
    onChange: (next) => {
      drawnHere = false;
      saver.change(toDraft(next));
    },
    onRemoved: (count, undo) =>
      showToast(`${count} ${count === 1 ? "transition" : "transitions"} removed`, { run: undo }),
  });
  const flush = async (): Promise<number | null> => {
    if (drawnHere) saver.change({ text: view.draft.text, layout: document.layout });
    drawnHere = false;
    saver.flush();
    for (let waited = 0; waited < 10_000; waited += 50) {
      const { save, revision } = store.getState();
      if (!saver.hasUnsaved) return revision;
      if (save.kind === "conflict" || (save.kind === "unsaved" && waited > 1_000)) return null;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return null;
  };
  return { store, saver, flush };
}
