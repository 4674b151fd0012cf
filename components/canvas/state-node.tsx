"use client";
/**
 * One state as drawn: leaf, container, region, final, history or initial dot, with its marks.
 */
import { CircleSlash, LogIn, LogOut, OctagonX, Square, TriangleAlert, X } from "lucide-react";
import { Handle, Position, type NodeProps } from "@xyflow/react";
import { memo, type ReactNode } from "react";
import type { StateMark } from "@/lib/diagram/marks";
import type { Row, SceneBox } from "@/lib/diagram/scene";
import { cn } from "@/components/ui/class-names";
import { useStateExtras } from "./canvas-extras";
import type { StateFlowNode } from "./flow-elements";

export const StateNode = memo(function StateNode({ id, data }: NodeProps<StateFlowNode>) {
  const { box, mark, selected, highlighted, divider } = data;
  const extras = useStateExtras();
  const title = extras?.title?.(box) ?? null;
  const attributes = {
    "data-testid": box.kind === "initial" ? "initial" : "state",
    "data-name": id,
    "data-kind": box.kind,
    ...flag("active", mark.active),
    ...flag("entered", mark.entered),
    ...flag("exited", mark.exited),
    ...flag("failed", mark.failed),
    ...flag("ignored", mark.ignored),
    ...flag("selected", selected),
    ...flag("container", box.children.length > 0),
  };
  const around = (
    <>
      {highlighted ? <div className="lc-highlight" /> : null}
      {selected && box.kind !== "initial" ? <SelectionFrame round={isRound(box)} /> : null}
      {mark.problem ? <ProblemBadge problem={mark.problem} /> : null}
      {extras?.handles?.(box) ?? null}
      {/* React Flow draws an edge only between handles; ours know their own routes. */}
      <Handle type="target" position={Position.Left} isConnectable={false} className="lc-anchor" />
      <Handle type="source" position={Position.Right} isConnectable={false} className="lc-anchor" />
    </>
  );
  if (box.kind === "initial") {
    return (
      <>
        <div className="lc-dot" {...attributes} />
        {around}
      </>
    );
  }
  if (isRound(box)) {
    return (
      <>
        <div className="lc-history lc-focusable" {...attributes}>
          {box.kind === "history" ? "H" : "H*"}
        </div>
        {around}
      </>
    );
  }
  if (box.kind === "region") {
    return (
      <>
        <div className="lc-region lc-focusable" data-divider={divider ?? undefined} {...attributes}>
          <div className="lc-caps">
            {mark.active ? <i className="lc-sign" {...flag("ring", true)} /> : null}
            {title ?? box.title}
          </div>
          <Rows rows={box.rows} />
          <Tag mark={mark} />
        </div>
        {around}
      </>
    );
  }
  const container = box.children.length > 0;
  const name = (
    <div className="lc-title">
      {mark.active ? <i className="lc-sign" {...flag("ring", container)} /> : null}
      {title ?? <span className="truncate">{box.title}</span>}
      <Kind box={box} />
    </div>
  );
  return (
    <>
      <div className="lc-state lc-focusable" {...attributes}>
        <div
          className={cn(container ? "lc-head" : "lc-leaf")}
          style={container ? { height: data.head } : undefined}
        >
          {name}
          <Rows rows={box.rows} />
        </div>
        <Tag mark={mark} />
      </div>
      {around}
    </>
  );
});

/** `data-x=""` when on, nothing when off: for style sheets and browser tests. */
const flag = (name: string, on: boolean | undefined): Record<string, string> =>
  on ? { [`data-${name}`]: "true" } : {};

const isRound = (box: SceneBox): boolean => box.kind === "history" || box.kind === "deep-history";

function Rows({ rows }: { rows: Row[] }) {
  if (rows.length === 0) return null;
  return (
    <div className="lc-rows">
      {rows.map((row, index) => (
        <div className="lc-row" key={index}>
          <span>{row.label} /</span> {row.text}
        </div>
      ))}
    </div>
  );
}

function Kind({ box }: { box: SceneBox }): ReactNode {
  if (box.hidden > 0) {
    return <span className="lc-kind">+{box.hidden === 1 ? "1 state" : `${box.hidden} states`}</span>;
  }
  if (!box.parallel) return null;
  return (
    <span className="lc-kind">
      <Square size={11} aria-hidden /> parallel
    </span>
  );
}

const tags = {
  failed: { icon: OctagonX, word: "failed" },
  entered: { icon: LogIn, word: "entered" },
  exited: { icon: LogOut, word: "exited" },
  ignored: { icon: CircleSlash, word: "ignored" },
} as const;

/** The word of what happened to the state; of two the later wins (left, then entered again). */
function Tag({ mark }: { mark: StateMark }) {
  const which = mark.failed
    ? "failed"
    : mark.entered
      ? "entered"
      : mark.exited
        ? "exited"
        : mark.ignored
          ? "ignored"
          : null;
  if (!which) return null;
  const { icon: Icon, word } = tags[which];
  return (
    <span className="lc-tag" data-mark={which}>
      <Icon size={11} aria-hidden /> {word}
    </span>
  );
}

export function ProblemBadge({ problem }: { problem: "error" | "warning" }) {
  return (
    <span className="lc-problem" data-problem={problem}>
      {problem === "error" ? (
        <X size={11} strokeWidth={3} aria-hidden />
      ) : (
        <TriangleAlert size={10} aria-hidden />
      )}
    </span>
  );
}

function SelectionFrame({ round }: { round: boolean }) {
  return (
    <div className="lc-selected" {...flag("round", round)}>
      <i />
      <i />
      <i />
      <i />
    </div>
  );
}
