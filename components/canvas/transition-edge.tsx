"use client";
/**
 * One transition as drawn: an orthogonal line with rounded corners, its head, and its pill on the line.
 */
import { EdgeLabelRenderer, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import { midpoint, roundedPath } from "@/lib/diagram/geometry";
import type { Point } from "@/lib/diagram/layout";
import type { TransitionMark } from "@/lib/diagram/marks";
import type { ArrowLabel } from "@/lib/diagram/scene";
import { useStateExtras } from "./canvas-extras";
import type { ArrowFlowEdge } from "./flow-elements";
import { ProblemBadge } from "./state-node";

const headLength = 9;
const headWidth = 8;

export const TransitionEdge = memo(function TransitionEdge({ data }: EdgeProps<ArrowFlowEdge>) {
  const extras = useStateExtras();
  if (!data || data.points.length < 2) return null;
  const { arrow, points, label, mark, selected } = data;
  const scale = mark.taken ? 1.35 : 1;
  const head = arrowhead(points, headLength * scale, headWidth * scale);
  const path = roundedPath(shortened(points, headLength * scale - 2));
  const field = extras?.label?.(arrow) ?? null;
  const attributes = {
    ...(selected ? { "data-selected": "true" } : {}),
    ...(mark.taken ? { "data-taken": "true" } : {}),
    ...(mark.refused ? { "data-refused": mark.refused } : {}),
  };
  const at = label ?? { ...midpoint(points), w: 0, h: 0 };
  return (
    <>
      <g className="lc-edge" {...attributes}>
        {mark.taken ? <path className="lc-halo" d={path} /> : null}
        <path className="lc-line" d={path} {...(mark.taken ? { pathLength: 1 } : {})} />
        <path className="lc-arrowhead" d={head} />
        <path className="lc-hit react-flow__edge-interaction" d={path} />
      </g>
      <EdgeLabelRenderer>
        {field ? (
          <div
            className="nodrag nopan nowheel absolute top-0 left-0"
            style={{
              transform: `translate(${at.x + at.w / 2}px, ${at.y + at.h / 2}px) translate(-50%, -50%)`,
              zIndex: 320,
              pointerEvents: "all",
            }}
          >
            {field}
          </div>
        ) : arrow.label && label ? (
          <div
            role="button"
            tabIndex={0}
            className="lc-pill nodrag nopan"
            data-testid="transition"
            data-id={arrow.transition}
            aria-label={pillLabel(arrow.label, mark, arrow.source, arrow.target)}
            {...attributes}
            style={{ transform: `translate(${label.x}px, ${label.y}px)`, width: label.w, height: label.h }}
            onClick={() => extras?.onPill?.(arrow.transition, "click")}
            onDoubleClick={() => extras?.onPill?.(arrow.transition, "double-click")}
            onKeyDown={(event) => {
              if (event.key !== "Enter" && event.key !== " ") return;
              event.preventDefault();
              extras?.onPill?.(arrow.transition, "enter");
            }}
          >
            <Pill label={arrow.label} />
            {mark.refused ? <span className="lc-verdict">✕ {mark.refused}</span> : null}
            {mark.problem ? <ProblemBadge problem={mark.problem} /> : null}
          </div>
        ) : null}
      </EdgeLabelRenderer>
    </>
  );
});

function Pill({ label }: { label: ArrowLabel }) {
  const actions = label.actions === null ? null : <span className="lc-actions">{label.actions}</span>;
  return (
    <>
      <span className="lc-pill-line">
        {label.branch === null ? null : <span className="lc-branch">{label.branch}</span>}
        <span>
          <b>{label.when}</b>
          {label.guard === null ? null : <span className="lc-guard"> {label.guard}</span>}
        </span>
        {label.twoLines ? null : actions}
      </span>
      {label.twoLines ? actions : null}
    </>
  );
}

function pillLabel(label: ArrowLabel, mark: TransitionMark, source: string, target: string): string {
  const text = [label.when, label.guard, label.actions].filter(Boolean).join(" ");
  const state = mark.taken ? ", taken" : mark.refused ? `, refused: ${mark.refused}` : "";
  return `transition ${text} from ${source || "the chart"} to ${target || "the chart"}${state}`;
}

/** The line without its last px, so that it does not show in front of the head. */
function shortened(points: readonly Point[], by: number): Point[] {
  const last = points[points.length - 1];
  const before = points[points.length - 2];
  if (!last || !before) return [...points];
  const length = Math.hypot(last.x - before.x, last.y - before.y);
  if (length <= by) return [...points];
  const end = {
    x: last.x - ((last.x - before.x) / length) * by,
    y: last.y - ((last.y - before.y) / length) * by,
  };
  return [...points.slice(0, -1), end];
}

function arrowhead(points: readonly Point[], length: number, width: number): string {
  const tip = points[points.length - 1];
  const before = points[points.length - 2];
  if (!tip || !before) return "";
  const distance = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const ux = (tip.x - before.x) / distance;
  const uy = (tip.y - before.y) / distance;
  const base = { x: tip.x - ux * length, y: tip.y - uy * length };
  const half = width / 2;
  return `M${tip.x},${tip.y}L${base.x - uy * half},${base.y + ux * half}L${base.x + uy * half},${base.y - ux * half}Z`;
}
