"use client";
/**
 * The shared read-only drawing of a chart: time travel, thumbnails and the fleet show it with their marks; the editor
 * builds on its parts.
 *
 * Holds: it lays out what has no place (in a worker) and tells `onLayout`; it changes nothing else; colours come from
 * the tokens' variables alone.
 */
import "@xyflow/react/dist/style.css";
import "./canvas.css";
import {
  Background,
  BackgroundVariant,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Layout } from "@/lib/diagram/layout";
import { noMarks, type Marks } from "@/lib/diagram/marks";
import type { Chart } from "@/lib/statechart/document";
import { CanvasControls, fitOptions } from "./canvas-controls";
import { CanvasExtrasProvider } from "./canvas-extras";
import { flowEdges, flowNodes, Unchanged, type ArrowFlowEdge, type StateFlowNode } from "./flow-elements";
import { Legend } from "./legend";
import { StateNode } from "./state-node";
import { TransitionEdge } from "./transition-edge";
import { usePlaced } from "./use-placed";

export interface ChartElement {
  kind: "state" | "transition";
  id: string;
}

export interface ChartCanvasProps {
  chart: Chart;
  layout: Layout;
  marks?: Marks;
  /** State name or transition id. */
  selection?: string | null;
  onSelect?: (element: ChartElement | null) => void;
  /** Told the layout computed for elements without a place. */
  onLayout?: (layout: Layout) => void;
  /** The view fits the drawing whenever this changes, and at first. */
  fitKey?: string;
  legend?: boolean;
  /** Zoom controls; default true. */
  controls?: boolean;
  label?: string;
  /** Shown when the chart's root needs a frame of its own. */
  rootTitle?: string;
}

export const nodeTypes = { state: StateNode };
export const edgeTypes = { transition: TransitionEdge };

export function ChartCanvas(props: ChartCanvasProps) {
  return (
    <ReactFlowProvider>
      <Drawing {...props} />
    </ReactFlowProvider>
  );
}

function Drawing({
  chart,
  layout,
  marks = noMarks,
  selection = null,
  onSelect,
  onLayout,
  fitKey = "",
  legend = false,
  controls = true,
  label = "Statechart",
  rootTitle,
}: ChartCanvasProps) {
  const { placed, failure } = usePlaced(chart, layout, onLayout, rootTitle);
  const selected = useMemo(() => new Set(selection === null ? [] : [selection]), [selection]);
  const [unchanged] = useState(() => ({
    nodes: new Unchanged<StateFlowNode>(),
    edges: new Unchanged<ArrowFlowEdge>(),
  }));
  const flow = useMemo(() => {
    if (!placed) return null;
    const options = { marks, selection: selected };
    return {
      nodes: unchanged.nodes.keep(flowNodes(placed.scene, placed.layout, options)),
      edges: unchanged.edges.keep(flowEdges(placed.scene, placed.layout, options)),
    };
  }, [placed, marks, selected, unchanged]);
  const extras = useMemo(
    () => ({ onPill: (id: string) => onSelect?.({ kind: "transition", id }) }),
    [onSelect],
  );
  useFit(placed !== null, fitKey);

  return (
    <div
      className="lc-canvas relative size-full"
      data-testid="chart"
      data-ready={flow ? "true" : undefined}
      onKeyDown={(event) => {
        const id =
          event.target instanceof HTMLElement
            ? event.target.closest(".react-flow__node")?.getAttribute("data-id")
            : null;
        if (event.key === "Enter" && id) onSelect?.({ kind: "state", id });
      }}
    >
      <CanvasExtrasProvider value={extras}>
        <ReactFlow
          nodes={flow?.nodes ?? none}
          edges={flow?.edges ?? none}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          zIndexMode="manual"
          nodesDraggable={false}
          nodesConnectable={false}
          elementsSelectable={false}
          edgesFocusable={false}
          onlyRenderVisibleElements
          minZoom={0.05}
          maxZoom={2.5}
          zoomOnDoubleClick={false}
          panOnScroll
          aria-label={label}
          onNodeClick={(_, node) => {
            if (node.data.box.kind !== "initial") onSelect?.({ kind: "state", id: node.id });
          }}
          onEdgeClick={(_, edge) => {
            if (edge.data) onSelect?.({ kind: "transition", id: edge.data.arrow.transition });
          }}
          onPaneClick={() => onSelect?.(null)}
        >
          <Background variant={BackgroundVariant.Dots} gap={18} size={1.4} color="var(--dot)" />
          {controls ? (
            <Panel position="bottom-right" className="!m-2.5 !mb-4">
              <CanvasControls />
            </Panel>
          ) : null}
          {legend ? (
            <Panel position="bottom-left" className="!m-3">
              <Legend />
            </Panel>
          ) : null}
          {failure ? (
            <Panel position="top-center">
              <p role="status" className="rounded-box bg-exited-soft px-3 py-1.5 text-body text-exited">
                {failure}
              </p>
            </Panel>
          ) : null}
        </ReactFlow>
      </CanvasExtrasProvider>
    </div>
  );
}

const none: never[] = [];

/** Fits the view when the first layout is there and whenever `fitKey` changes. */
export function useFit(ready: boolean, fitKey: string): void {
  const { fitView } = useReactFlow();
  const fitted = useRef<string | null>(null);
  useEffect(() => {
    if (!ready || fitted.current === fitKey) return;
    const first = fitted.current === null;
    const frame = requestAnimationFrame(() => {
      fitted.current = fitKey;
      void fitView({ ...fitOptions, duration: first ? 0 : fitOptions.duration });
    });
    return () => cancelAnimationFrame(frame);
  }, [ready, fitKey, fitView]);
}
