"use client";
/**
 * The drawing as one edits it: create by double-click, connect from a border, drag to move and re-parent, rename in place.
 *
 * Holds: pixel events become commands here and nowhere else; during a drag only the picture moves, the document changes
 * once, when the drag ends.
 */
import "@xyflow/react/dist/style.css";
import "@/components/canvas/canvas.css";
import "./editor.css";
import {
  Background,
  BackgroundVariant,
  Panel,
  ReactFlow,
  useReactFlow,
  useStoreApi,
  ViewportPortal,
  type NodeChange,
} from "@xyflow/react";
import {
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type PointerEvent as ReactPointerEvent,
} from "react";
import { CanvasControls } from "@/components/canvas/canvas-controls";
import { CanvasExtrasProvider, type CanvasExtras } from "@/components/canvas/canvas-extras";
import { edgeTypes, nodeTypes, useFit } from "@/components/canvas/chart-canvas";
import {
  flowEdges,
  flowNodes,
  Unchanged,
  type ArrowFlowEdge,
  type StateFlowNode,
} from "@/components/canvas/flow-elements";
import { collapsedIn } from "@/components/canvas/use-placed";
import { centre } from "@/lib/diagram/geometry";
import type { Layout, Point } from "@/lib/diagram/layout";
import type { Marks } from "@/lib/diagram/marks";
import { routeArrows } from "@/lib/diagram/route";
import { buildScene, type Scene } from "@/lib/diagram/scene";
import { insideOf, movedLayout } from "@/lib/editor/layout-commands";
import type { StateKind } from "@/lib/editor/state-commands";
import { cn } from "@/components/ui/class-names";
import { ConnectSearch } from "./connect-search";
import { ConnectHandles } from "./connect-handles";
import { useDocument, useEditor, useEditorStore, type Tool } from "./editor-store";
import { boxAt, containerAt, dropAt } from "./hit-test";
import { LabelField } from "./label-field";
import { NameField } from "./name-field";
import { problemMarks } from "./problem-marks";

interface Drag {
  /** New corners, by name. */
  places: Record<string, Point>;
  /** The state the dragged ones would move into; undefined: none but their own parent. */
  into: string | undefined;
  /** The pointer is outside the parent, and Alt isn't held. */
  needsAlt: boolean;
}
interface Connection {
  source: string;
  from: Point;
  to: Point;
  over: string | null;
}

export function EditorCanvas() {
  const store = useEditorStore();
  const document = useDocument();
  const selection = useEditor((state) => state.selection);
  const naming = useEditor((state) => state.naming);
  const labelling = useEditor((state) => state.labelling);
  const tool = useEditor((state) => state.tool);
  const problems = useEditor((state) => state.problems);
  const fitCount = useEditor((state) => state.fitCount);
  const measure = useEditor((state) => state.measure);
  const refusal = useEditor((state) => state.refusal);
  const { screenToFlowPosition } = useReactFlow();
  const [drag, setDrag] = useState<Drag | null>(null);
  const [connection, setConnection] = useState<Connection | null>(null);

  const { chart, layout } = document;
  const collapsedKey = useMemo(() => [...collapsedIn(layout)].join("\0"), [layout]);
  const scene = useMemo(
    () =>
      buildScene(chart, {
        collapsed: new Set(collapsedKey === "" ? [] : collapsedKey.split("\0")),
        rootTitle: store.getState().chartId,
      }),
    [chart, collapsedKey, store],
  );
  const shown = useMemo(() => {
    if (!drag) return layout;
    const moved = movedLayout(document, drag.places, scene);
    const loose = scene.arrows.filter((arrow) => !moved.routes[arrow.id]);
    return routeArrows(scene, moved, new Set(loose.map((arrow) => arrow.id)), measure);
  }, [drag, document, layout, scene, measure]);
  const marks = useMemo<Marks>(() => problemMarks(problems, scene), [problems, scene]);
  const selected = useMemo(() => new Set(selection), [selection]);

  const [unchanged] = useState(() => ({
    nodes: new Unchanged<StateFlowNode>(),
    edges: new Unchanged<ArrowFlowEdge>(),
  }));
  const flow = useMemo(() => {
    const highlighted = drag?.into ?? connection?.over ?? null;
    const options = { marks, selection: selected, highlighted, draggable: tool === "select" };
    return {
      nodes: unchanged.nodes.keep(flowNodes(scene, shown, options)),
      edges: unchanged.edges.keep(flowEdges(scene, shown, options)),
    };
  }, [scene, shown, marks, selected, drag?.into, connection?.over, tool, unchanged]);
  useFit(true, String(fitCount));
  useReveal(layout);

  const pointOf = useCallback(
    (event: { clientX: number; clientY: number }): Point =>
      screenToFlowPosition({ x: event.clientX, y: event.clientY }),
    [screenToFlowPosition],
  );

  // --- create

  const create = useCallback(
    (point: Point, kind: StateKind, parentBox = containerAt(scene, layout, point)): string | null => {
      const { run, set } = store.getState();
      const parent = parentBox?.parallel ? parentBox.id : (parentBox?.id ?? scene.tree.root.name);
      const made = run({
        do: "add-state",
        parent,
        kind,
        ...(parentBox?.parallel ? {} : { at: { x: Math.round(point.x - 46), y: Math.round(point.y - 18) } }),
      });
      if (typeof made !== "string") return null;
      if (kind !== "history") set({ naming: { id: made, fresh: true } });
      return made;
    },
    [scene, layout, store],
  );

  // --- connect

  const startConnection = useCallback(
    (source: string, event: ReactPointerEvent) => {
      const from = pointOf(event);
      const startedAt = { x: event.clientX, y: event.clientY };
      let moved = false;
      const onMove = (move: PointerEvent) => {
        moved ||= Math.hypot(move.clientX - startedAt.x, move.clientY - startedAt.y) > 4;
        if (!moved) return;
        const to = pointOf(move);
        const { layout: now } = store.getState().history.present.document;
        const drop = dropAt(scene, now, to);
        setConnection({ source, from, to, over: "state" in drop ? drop.state : null });
      };
      const finish = () => {
        window.removeEventListener("pointermove", onMove);
        window.removeEventListener("pointerup", onUp);
        window.removeEventListener("keydown", onKey, true);
        setConnection(null);
      };
      const onKey = (key: KeyboardEvent) => {
        if (key.key !== "Escape") return;
        key.stopPropagation();
        finish();
      };
      const onUp = (up: PointerEvent) => {
        finish();
        if (!moved) {
          store.getState().select([source]);
          return;
        }
        const point = pointOf(up);
        const { layout: now } = store.getState().history.present.document;
        const drop = dropAt(scene, now, point);
        const { run, set } = store.getState();
        if ("state" in drop) {
          const made = run({ do: "add-transition", source, target: drop.state });
          if (typeof made === "string" && made.includes("#on/"))
            set({ labelling: { id: made, fresh: true } });
          return;
        }
        const state = run({
          do: "add-state",
          parent: drop.inside ?? scene.tree.root.name,
          at: { x: Math.round(point.x - 46), y: Math.round(point.y - 18) },
        });
        if (typeof state !== "string") return;
        run({ do: "add-transition", source, target: state }, { merge: true });
        store.getState().select([state]);
        set({ naming: { id: state, fresh: true } });
      };
      window.addEventListener("pointermove", onMove);
      window.addEventListener("pointerup", onUp);
      window.addEventListener("keydown", onKey, true);
    },
    [pointOf, scene, store],
  );

  // --- move

  const onNodesChange = useCallback(
    (changes: NodeChange<StateFlowNode>[]) => {
      const places: Record<string, Point> = {};
      for (const change of changes) {
        if (change.type !== "position" || !change.position || change.dragging !== true) continue;
        const box = scene.box.get(change.id);
        const parent = box?.parent == null ? undefined : layout.states[box.parent];
        places[change.id] = {
          x: Math.round(change.position.x + (parent?.x ?? 0)),
          y: Math.round(change.position.y + (parent?.y ?? 0)),
        };
      }
      const [first] = Object.keys(places);
      if (first === undefined) return;
      // The other selected states go along.
      const { selection: now } = store.getState();
      const own = layout.states[first];
      const to = places[first];
      if (own && to && now.includes(first)) {
        for (const id of now) {
          const box = layout.states[id];
          if (id === first || !box || isInsideAny(scene, id, now)) continue;
          places[id] = { x: box.x + to.x - own.x, y: box.y + to.y - own.y };
        }
      }
      setDrag((drag) => ({ into: drag?.into, needsAlt: drag?.needsAlt ?? false, places }));
    },
    [scene, layout, store],
  );

  const aim = useCallback(
    (event: { clientX: number; clientY: number; altKey: boolean }, id: string) => {
      const point = pointOf(event);
      const box = scene.box.get(id);
      if (!box || box.kind === "initial") return { into: undefined, needsAlt: false };
      const dragged = new Set(insideOf(scene, id));
      const over = containerAt(scene, layout, point, dragged);
      const leaf = event.altKey ? boxAt(scene, layout, point, dragged) : null;
      const target = leaf && leaf.children.length === 0 && leaf.kind !== "final" ? leaf : over;
      const home = box.parent;
      const targetId = target?.id ?? null;
      if (targetId === home) return { into: undefined, needsAlt: false };
      if (box.kind === "region" && !event.altKey) return { into: undefined, needsAlt: false };
      const within = home === null || (targetId !== null && isAncestor(scene, home, targetId));
      if (!within && !event.altKey) return { into: undefined, needsAlt: true };
      return { into: targetId ?? scene.tree.root.name, needsAlt: false };
    },
    [pointOf, scene, layout],
  );

  const onDrag = useCallback(
    (event: MouseEvent | TouchEvent | React.MouseEvent, node: StateFlowNode) => {
      if (!("clientX" in event)) return;
      const next = aim(event, node.id);
      setDrag((drag) =>
        drag && (drag.into !== next.into || drag.needsAlt !== next.needsAlt) ? { ...drag, ...next } : drag,
      );
    },
    [aim],
  );

  const onDragStop = useCallback(
    (_: unknown, node: StateFlowNode) => {
      const { run } = store.getState();
      setDrag((current) => {
        if (!current) return null;
        const { places, into } = current;
        const states = Object.keys(places).filter((id) => scene.box.get(id)?.kind !== "initial");
        queueMicrotask(() => {
          if (into !== undefined && node.data.box.kind !== "initial") {
            run({ do: "reparent-states", states, parent: into, places });
          } else run({ do: "move-states", places }, { select: false });
        });
        return null;
      });
    },
    [scene, store],
  );

  // --- what the shared drawing shows in addition

  const extras = useMemo<CanvasExtras>(
    () => ({
      title: (box) =>
        naming?.id === box.id ? <NameField key={box.id} naming={naming} title={box.title} /> : null,
      label: (arrow) =>
        labelling?.id === arrow.transition && arrow.id === arrow.transition ? (
          <LabelField key={arrow.id} labelling={labelling} />
        ) : null,
      handles: (box) => <ConnectHandles box={box} onStart={startConnection} />,
      onPill: (id, event) => {
        const { select, set } = store.getState();
        select([id]);
        if (event === "double-click") set({ labelling: { id, fresh: false } });
      },
    }),
    [naming, labelling, startConnection, store],
  );

  // --- clicks

  const click = (id: string | null, event: { clientX: number; clientY: number; shiftKey: boolean }) => {
    const { select, set, tool: now, selection: held } = store.getState();
    if (now !== "select" && now !== "transition") {
      set({ tool: "select" });
      create(pointOf(event), placed(now));
      return;
    }
    if (id === null) return select([]);
    if (event.shiftKey) select(held.includes(id) ? held.filter((item) => item !== id) : [...held, id]);
    else select([id]);
  };

  const doubleClick = (event: React.MouseEvent) => {
    const target = event.target as HTMLElement;
    if (target.closest(".lc-pill, input, button, .react-flow__panel, .cm-editor")) return;
    const point = pointOf(event);
    const box = boxAt(scene, layout, point);
    if (box && (box.children.length === 0 || target.closest(".lc-title, .lc-caps")) && box.kind !== "root") {
      const emptyRegion = box.kind === "region" && !target.closest(".lc-caps");
      if (!emptyRegion) {
        if (box.kind !== "history" && box.kind !== "deep-history")
          store.getState().set({ naming: { id: box.id, fresh: false } });
        return;
      }
    }
    create(point, "atomic");
  };

  return (
    <div
      className={cn("lc-canvas le-canvas relative size-full", connection && "le-connecting")}
      data-testid="canvas"
      data-ready="true"
      data-tool={tool === "select" ? undefined : tool === "transition" ? "connect" : "place"}
      onDoubleClick={doubleClick}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes(paletteType)) event.preventDefault();
      }}
      onDrop={(event) => {
        const kind = event.dataTransfer.getData(paletteType);
        if (kind === "") return;
        event.preventDefault();
        create(pointOf(event), kind as StateKind);
      }}
      onKeyDown={(event) => {
        const target = event.target as HTMLElement;
        const id = target.classList.contains("react-flow__node") ? target.getAttribute("data-id") : null;
        if (id === null || (event.key !== "Enter" && event.key !== " ")) return;
        event.preventDefault();
        store.getState().select([id]);
      }}
    >
      <CanvasExtrasProvider value={extras}>
        <ReactFlow
          nodes={flow.nodes}
          edges={flow.edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onNodesChange={onNodesChange}
          onNodeDrag={onDrag}
          onNodeDragStop={onDragStop}
          zIndexMode="manual"
          nodesConnectable={false}
          elementsSelectable={false}
          edgesFocusable={false}
          nodeDragThreshold={4}
          onlyRenderVisibleElements
          minZoom={0.05}
          maxZoom={2.5}
          zoomOnDoubleClick={false}
          panOnScroll
          deleteKeyCode={null}
          disableKeyboardA11y
          aria-label="Statechart"
          onNodeClick={(event, node) => click(node.data.box.kind === "initial" ? null : node.id, event)}
          onEdgeClick={(event, edge) => click(edge.data?.arrow.transition ?? null, event)}
          onEdgeDoubleClick={(_, edge) => {
            if (edge.data?.arrow.label)
              store.getState().set({ labelling: { id: edge.data.arrow.transition, fresh: false } });
          }}
          onPaneClick={(event) => click(null, event)}
        >
          <Background variant={BackgroundVariant.Dots} gap={18} size={1.4} color="var(--dot)" />
          <Panel position="bottom-right" className="!m-2.5 !mb-4">
            <CanvasControls />
          </Panel>
          <ConnectSearch />
          {connection ? <ConnectionLine connection={connection} layout={layout} /> : null}
          <Hint
            tool={tool}
            needsAlt={drag?.needsAlt ?? false}
            refusal={refusal}
            empty={scene.tree.root.children.length === 0}
          />
        </ReactFlow>
      </CanvasExtrasProvider>
    </div>
  );
}

/** Moves the view when what was chosen outside the drawing lies outside of it. */
function useReveal(layout: Layout): void {
  const shown = useEditor((state) => state.shown);
  const flow = useStoreApi();
  const { setCenter, getZoom } = useReactFlow();
  const latest = useRef(layout);
  useEffect(() => {
    latest.current = layout;
  });
  useEffect(() => {
    const { states, routes } = latest.current;
    const box = states[shown.id] ?? routes[shown.id]?.label;
    if (shown.count === 0 || !box) return;
    const { width, height, transform } = flow.getState();
    const [x, y, zoom] = transform;
    const left = box.x * zoom + x;
    const top = box.y * zoom + y;
    const inView = left > 0 && top > 0 && left + box.w * zoom < width && top + box.h * zoom < height;
    if (!inView) void setCenter(box.x + box.w / 2, box.y + box.h / 2, { zoom: getZoom(), duration: 200 });
  }, [shown, flow, setCenter, getZoom]);
}

export const paletteType = "application/x-lockstep-state";

const placed = (tool: Tool): StateKind =>
  tool === "state" || tool === "select" || tool === "transition" ? "atomic" : tool;

/** Is a state inside another one of the list? Then it moves with that one. */
function isInsideAny(scene: Scene, id: string, ids: readonly string[]): boolean {
  return ids.some((other) => other !== id && isAncestor(scene, other, id));
}

function isAncestor(scene: Scene, outer: string, inner: string): boolean {
  for (let at = scene.box.get(inner); at && at.parent !== null; at = scene.box.get(at.parent)) {
    if (at.parent === outer) return true;
  }
  return false;
}

function ConnectionLine({ connection, layout }: { connection: Connection; layout: Layout }) {
  const { from, to, over } = connection;
  const box = over === null ? undefined : layout.states[over];
  const end = box && over !== connection.source ? nearest(box, from, centre(box)) : to;
  return (
    <ViewportPortal>
      <svg
        className="pointer-events-none absolute top-0 left-0 overflow-visible"
        width="1"
        height="1"
        style={{ zIndex: 310 }}
      >
        <path className="le-connection" d={`M${from.x},${from.y}L${end.x},${end.y}`} />
        <circle cx={end.x} cy={end.y} r="4" fill="var(--accent)" />
      </svg>
    </ViewportPortal>
  );
}

/** Where the line from outside to a box's middle meets its border. */
function nearest(box: { x: number; y: number; w: number; h: number }, from: Point, middle: Point): Point {
  const dx = from.x - middle.x;
  const dy = from.y - middle.y;
  const scale = Math.min(
    dx === 0 ? Infinity : box.w / 2 / Math.abs(dx),
    dy === 0 ? Infinity : box.h / 2 / Math.abs(dy),
    1,
  );
  return { x: middle.x + dx * scale, y: middle.y + dy * scale };
}

function Hint({
  tool,
  needsAlt,
  refusal,
  empty,
}: {
  tool: Tool;
  needsAlt: boolean;
  refusal: string | null;
  empty: boolean;
}) {
  const text = needsAlt
    ? "Hold Alt to move it out of its parent"
    : refusal !== null
      ? refusal
      : tool === "transition"
        ? null
        : tool !== "select"
          ? `Click where the ${tool === "history" ? "history" : `${tool === "state" ? "" : `${tool} `}state`} goes · Esc`
          : null;
  if (text !== null) {
    return (
      <Panel position="top-center" className="pointer-events-none !m-3">
        <p
          role={refusal !== null ? "alert" : "status"}
          data-testid="canvas-hint"
          className={cn(
            "rounded-box border px-3 py-1.5 text-body shadow-2",
            refusal !== null
              ? "border-failed bg-failed-soft text-failed"
              : "border-border-2 bg-surface text-text-2",
          )}
        >
          {text}
        </p>
      </Panel>
    );
  }
  if (!empty) return null;
  return (
    <Panel position="top-center" className="pointer-events-none !m-0 flex h-full items-center">
      <div className="text-center">
        <p className="text-dialog font-semibold">Double-click to draw the first state</p>
        <p className="mt-1 text-body text-text-2">
          or press S and click, or import a chart from the menu above.
        </p>
      </div>
    </Panel>
  );
}
