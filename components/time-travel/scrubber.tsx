"use client";
/**
 * The log as a strip: density, states as lanes, marks, and the cursor to drag.
 *
 * Holds: drawn from at most `overviewMax` entries and `windowSize` of them in detail; time runs to the right with idle gaps
 * collapsed and named; everything it does is also a key or a button.
 */
import { ChevronLeft, ChevronRight, ChevronsLeft, ChevronsRight, Pause, Play } from "lucide-react";
import { useLayoutEffect, useMemo, useRef, useState, type PointerEvent } from "react";
import { shortStateName } from "@/components/instances/state-name";
import { IconButton } from "@/components/ui/button";
import { Kbd } from "@/components/ui/kbd";
import { formatAge, formatClock, formatCount } from "@/components/ui/time";
import { useZone } from "@/components/ui/time-zone";
import type { LogEntry } from "@/lib/contract/instances";
import type { ChartTree } from "@/lib/diagram/chart-tree";
import { entryLook, scrubberMark } from "./entry-words";
import { stateLanes } from "./state-lanes";
import { nearestIndex, timelineScale } from "./timeline-scale";
import { pageOf, pageSize, useEntries } from "./use-history";

/** Density of the whole log is drawn up to this many entries; beyond, only around the cursor. */
const overviewMax = 2_000;
const windowSize = 120;
/** A stretch shorter than this is labelled to the millisecond: whole seconds would repeat. */
const briefMs = 20_000;
const labelWidth = 84;
const edge = 14;

export interface ScrubberProps {
  instanceId: string;
  total: number;
  cursor: number;
  /** Configuration after the cursor's entry, once known. */
  configuration: readonly string[] | null;
  tree: ChartTree | null;
  onSeek: (seq: number) => void;
  playing: boolean;
  onPlay: () => void;
  onFailure: (step: -1 | 1) => void;
}

export function Scrubber(props: ScrubberProps) {
  const { instanceId, total, cursor, configuration, tree, onSeek, playing, onPlay, onFailure } = props;
  const { zone } = useZone();
  const [box, width] = useWidth();
  const pages = useMemo(() => overviewPages(total, cursor), [total, cursor]);
  const { bySeq } = useEntries(instanceId, pages, total);
  const view = useMemo(() => windowAround(bySeq, total, cursor), [bySeq, total, cursor]);
  const scale = useMemo(() => timelineScale(view.map((entry) => entry.at)), [view]);
  const anchor = view.findIndex((entry) => entry.seq === cursor);
  const lanes = useMemo(
    () => (tree && configuration && anchor >= 0 ? stateLanes(tree, view, anchor, configuration) : []),
    [tree, configuration, anchor, view],
  );
  const left = labelWidth;
  const inner = Math.max(1, width - left - edge);
  const x = (index: number): number => left + (scale.at[index] ?? 1) * inner;
  const brief = (view.at(-1)?.at ?? 0) - (view[0]?.at ?? 0) < briefMs;
  const cursorX = anchor >= 0 ? x(anchor) : null;
  const atCursor = view[anchor];
  // A log that fits the detail needs no overview above it.
  const overview = total > windowSize;
  const lift = overview ? 0 : 30;
  const laneTop = 84;
  const marksTop = laneTop + Math.max(1, lanes.length) * 21;
  const height = marksTop + 34;

  const seekAt = (event: PointerEvent<SVGElement>): void => {
    const bounds = event.currentTarget.ownerSVGElement?.getBoundingClientRect();
    if (!bounds || view.length === 0) return;
    const place = (event.clientX - bounds.left - left) / inner;
    const entry = view[nearestIndex(scale.at, Math.min(1, Math.max(0, place)))];
    if (entry) onSeek(entry.seq);
  };

  return (
    <section
      aria-label="Timeline"
      className="shrink-0 border-t border-border bg-surface"
      data-testid="scrubber"
    >
      <div className="flex h-10 items-center gap-1.5 px-3">
        <IconButton
          size="icon-sm"
          variant="outline"
          label="First event"
          disabled={cursor <= 1}
          onClick={() => onSeek(1)}
        >
          <ChevronsLeft size={14} aria-hidden />
        </IconButton>
        <IconButton
          size="icon-sm"
          variant="outline"
          label="Previous event"
          disabled={cursor <= 1}
          onClick={() => onSeek(cursor - 1)}
          data-testid="step-back"
        >
          <ChevronLeft size={14} aria-hidden />
        </IconButton>
        <IconButton
          size="icon-sm"
          variant="outline"
          label={playing ? "Stop" : "Play"}
          onClick={onPlay}
          data-testid="play"
        >
          {playing ? <Pause size={13} aria-hidden /> : <Play size={13} aria-hidden />}
        </IconButton>
        <IconButton
          size="icon-sm"
          variant="outline"
          label="Next event"
          disabled={cursor >= total}
          onClick={() => onSeek(cursor + 1)}
          data-testid="step-forward"
        >
          <ChevronRight size={14} aria-hidden />
        </IconButton>
        <IconButton
          size="icon-sm"
          variant="outline"
          label="Newest event"
          disabled={cursor >= total}
          onClick={() => onSeek(total)}
        >
          <ChevronsRight size={14} aria-hidden />
        </IconButton>
        <span className="ml-2 flex items-center gap-1 text-body text-text-3 max-lg:hidden">
          <Kbd>←</Kbd>
          <Kbd>→</Kbd> event <Kbd className="ml-1.5">⇧</Kbd> moved
          <button
            type="button"
            aria-label="Previous failure"
            onClick={() => onFailure(-1)}
            className="ml-1.5 flex size-6 items-center justify-center rounded-kbd"
          >
            <Kbd>[</Kbd>
          </button>
          <button
            type="button"
            aria-label="Next failure"
            onClick={() => onFailure(1)}
            className="-ml-1 flex size-6 items-center justify-center rounded-kbd"
          >
            <Kbd>]</Kbd>
          </button>
          failure <Kbd className="ml-1.5">G</Kbd> go to
        </span>
        <ul
          aria-label="Marks"
          className="ml-auto flex items-center gap-3.5 text-body text-text-2 max-md:hidden"
        >
          {(["failure", "lock", "timer", "operator"] as const).map((kind) => (
            <li key={kind} className="flex items-center gap-1.5">
              <svg width="10" height="10" aria-hidden>
                <Mark kind={kind} x={5} y={5} />
              </svg>
              {kind}
            </li>
          ))}
        </ul>
      </div>
      <div ref={box} className="w-full">
        {width > 0 ? (
          <svg
            width={width}
            height={height - lift}
            viewBox={`0 ${lift} ${width} ${height - lift}`}
            className="block select-none"
            aria-hidden
          >
            {overview ? (
              <Overview
                bySeq={bySeq}
                total={total}
                left={left}
                inner={inner}
                view={[view[0]?.seq ?? 1, view.at(-1)?.seq ?? 1]}
                onSeek={onSeek}
              />
            ) : null}
            <g
              onPointerDown={seekAt}
              onPointerMove={(event) => (event.buttons & 1 ? seekAt(event) : undefined)}
            >
              <rect x={left} y={34} width={inner} height={height - 34} fill="transparent" />
              <Label y={67}>Events</Label>
              {view.map((entry, index) => (
                <Bar key={entry.seq} entry={entry} x={x(index)} bottom={72} />
              ))}
              {scale.gaps.map(({ after, ms }) => {
                const middle = (x(after) + x(after + 1)) / 2;
                return (
                  <text key={after} x={middle} y={52} textAnchor="middle" className="fill-text-3 text-micro">
                    {`// ${formatAge(ms)}`}
                  </text>
                );
              })}
              {lanes.map((lane, row) => (
                <g key={lane.label}>
                  <Label y={laneTop + row * 21 + 12}>{lane.label}</Label>
                  {lane.spans.map((span) => {
                    const from = x(span.from);
                    const to = span.to >= view.length ? left + inner : x(span.to);
                    const wide = to - from;
                    const here = anchor >= span.from && anchor < span.to;
                    const name = shortStateName(span.state);
                    return (
                      <g key={span.from}>
                        <rect
                          x={from + 0.5}
                          y={laneTop + row * 21 + 0.5}
                          width={Math.max(2, wide - 2)}
                          height={16}
                          rx={4}
                          className={
                            here ? "fill-active-soft stroke-active" : "fill-surface-3 stroke-border-2"
                          }
                        >
                          <title>{span.state}</title>
                        </rect>
                        {wide > name.length * 6.4 + 12 ? (
                          <text
                            x={from + 7}
                            y={laneTop + row * 21 + 12}
                            className={here ? "fill-active text-micro" : "fill-text-2 text-micro"}
                          >
                            {name}
                          </text>
                        ) : null}
                      </g>
                    );
                  })}
                </g>
              ))}
              <Label y={marksTop + 11}>Marks</Label>
              {view.map((entry, index) => {
                const kind = scrubberMark(entry);
                return kind ? <Mark key={entry.seq} kind={kind} x={x(index)} y={marksTop + 7} /> : null;
              })}
              <Axis
                view={view}
                x={x}
                y={marksTop + 28}
                label={(at) => formatClock(at, zone, brief ? "ms" : "coarse")}
              />
              {cursorX !== null && atCursor ? (
                <g className="pointer-events-none">
                  <line
                    x1={cursorX}
                    x2={cursorX}
                    y1={46}
                    y2={marksTop + 16}
                    strokeWidth={2}
                    className="stroke-accent"
                  />
                  <CursorTag
                    x={Math.min(width - edge - 62, Math.max(left + 62, cursorX))}
                    text={`#${formatCount(cursor)} · ${formatClock(atCursor.at, zone, "coarse")}`}
                  />
                </g>
              ) : null}
            </g>
          </svg>
        ) : (
          <div style={{ height: height - lift }} />
        )}
      </div>
      <label className="sr-only">
        Event
        <input
          type="range"
          min={1}
          max={Math.max(1, total)}
          value={cursor}
          onChange={(event) => onSeek(Number(event.target.value))}
          aria-valuetext={`event ${cursor} of ${total}`}
          data-testid="scrubber-range"
        />
      </label>
    </section>
  );
}

function Overview({
  bySeq,
  total,
  left,
  inner,
  view,
  onSeek,
}: {
  bySeq: ReadonlyMap<number, LogEntry>;
  total: number;
  left: number;
  inner: number;
  view: [from: number, to: number];
  onSeek: (seq: number) => void;
}) {
  const columns = Math.max(1, Math.min(total, Math.floor(inner / 5)));
  const { bars, marks } = useMemo(() => {
    const counts = new Array<number>(columns).fill(0);
    const found: { kind: "failure" | "lock" | "operator"; column: number }[] = [];
    for (const entry of bySeq.values()) {
      const column = Math.min(columns - 1, Math.floor(((entry.seq - 1) / total) * columns));
      // Height says how much moved there: along seq, plain density would be flat.
      counts[column] = (counts[column] ?? 0) + (entry.outcome === "moved" ? 1 : 0.35);
      const kind = scrubberMark(entry);
      if (kind && kind !== "timer") found.push({ kind, column });
    }
    const most = Math.max(1, ...counts);
    return { bars: counts.map((count) => count / most), marks: found.slice(0, 200) };
  }, [bySeq, columns, total]);
  const step = inner / columns;
  const seqX = (seq: number): number => left + ((seq - 1) / Math.max(1, total)) * inner;
  const seek = (event: PointerEvent<SVGElement>): void => {
    const bounds = event.currentTarget.ownerSVGElement?.getBoundingClientRect();
    if (!bounds) return;
    const place = (event.clientX - bounds.left - left) / inner;
    onSeek(Math.min(total, Math.max(1, Math.round(place * total + 0.5))));
  };
  const frameX = seqX(view[0]);
  const frameWidth = Math.max(6, seqX(view[1] + 1) - frameX);
  return (
    <g onPointerDown={seek} onPointerMove={(event) => (event.buttons & 1 ? seek(event) : undefined)}>
      <Label y={18}>All {formatCount(total)}</Label>
      <rect x={left} y={2} width={inner} height={24} className="fill-surface-2" />
      {total > overviewMax ? (
        <text
          x={view[0] > total / 2 ? left + 8 : left + inner - 8}
          y={18}
          textAnchor={view[0] > total / 2 ? "start" : "end"}
          className="fill-text-3 text-micro"
        >
          drawn around the cursor only
        </text>
      ) : null}
      {bars.map((bar, column) =>
        bar > 0 ? (
          <rect
            key={column}
            x={left + column * step}
            y={26 - Math.max(2, bar * 15)}
            width={Math.max(1, Math.min(4, step - 1))}
            height={Math.max(2, bar * 15)}
            className="fill-border-2"
          />
        ) : null,
      )}
      {marks.map((mark, index) => (
        <Mark key={index} kind={mark.kind} x={left + (mark.column + 0.5) * step} y={8} />
      ))}
      <rect
        x={frameX}
        y={1.5}
        width={Math.min(frameWidth, left + inner - frameX)}
        height={25}
        rx={3}
        strokeWidth={1.5}
        fill="transparent"
        className="stroke-accent"
      />
    </g>
  );
}

function Bar({ entry, x, bottom }: { entry: LogEntry; x: number; bottom: number }) {
  const { tone } = entryLook(entry);
  const height =
    entry.outcome === "moved" ? 15 : entry.outcome === "handled" ? 10 : entry.outcome === "failed" ? 15 : 4;
  const fill = {
    active: "fill-active",
    exited: "fill-exited",
    failed: "fill-failed",
    taken: "fill-taken",
    quiet: "fill-line",
  };
  return <rect x={x - 2} y={bottom - height} width={4} height={height} rx={1} className={fill[tone]} />;
}

function Mark({ kind, x, y }: { kind: "failure" | "lock" | "timer" | "operator"; x: number; y: number }) {
  switch (kind) {
    case "failure":
      return (
        <path
          d={`M${x - 3} ${y - 3}l6 6m0-6l-6 6`}
          strokeWidth={1.75}
          className="stroke-failed"
          fill="none"
        />
      );
    case "lock":
      return <rect x={x - 3} y={y - 3} width={6} height={6} className="fill-taken" />;
    case "timer":
      return <circle cx={x} cy={y} r={3} strokeWidth={1.5} fill="none" className="stroke-accent" />;
    case "operator":
      return <path d={`M${x} ${y - 3.5}l3.8 6.8h-7.6z`} className="fill-exited" />;
  }
}

function CursorTag({ x, text }: { x: number; text: string }) {
  return (
    <g>
      <rect x={x - 60} y={30} width={120} height={18} rx={4} className="fill-accent" />
      <text x={x} y={43} textAnchor="middle" className="fill-surface text-hint font-semibold tabular-nums">
        {text}
      </text>
    </g>
  );
}

function Label({ y, children }: { y: number; children: React.ReactNode }) {
  return (
    <text x={12} y={y} className="fill-text-3 text-hint">
      {children}
    </text>
  );
}

const labelsMax = 8;

function Axis({
  view,
  x,
  y,
  label,
}: {
  view: readonly LogEntry[];
  x: (index: number) => number;
  y: number;
  label: (at: number) => string;
}) {
  const ticks: number[] = [];
  let last = -Infinity;
  view.forEach((_, index) => {
    if (ticks.length < labelsMax && x(index) - last > 130) {
      ticks.push(index);
      last = x(index);
    }
  });
  return (
    <>
      {ticks.map((index) => {
        const entry = view[index];
        return entry ? (
          <text
            key={index}
            x={x(index)}
            y={y}
            textAnchor={index === 0 ? "start" : index === view.length - 1 ? "end" : "middle"}
            className="fill-text-3 font-mono text-micro"
          >
            {label(entry.at)}
          </text>
        ) : null;
      })}
    </>
  );
}

function overviewPages(total: number, cursor: number): number[] {
  if (total <= overviewMax) return Array.from({ length: Math.ceil(total / pageSize) }, (_, page) => page);
  const around = pageOf(Math.max(1, cursor));
  return [around - 1, around, around + 1].filter((page) => page >= 0);
}

function windowAround(bySeq: ReadonlyMap<number, LogEntry>, total: number, cursor: number): LogEntry[] {
  const size = Math.min(windowSize, total);
  // Blocks, not a window that slides with every key: the picture stands still while the cursor walks through it.
  const half = Math.floor(size / 2);
  const block = Math.floor(Math.max(0, cursor - 1) / half) * half;
  const from = Math.max(1, Math.min(total - size + 1, block - Math.floor(half / 2) + 1));
  const entries: LogEntry[] = [];
  for (let seq = from; seq < from + size; seq++) {
    const entry = bySeq.get(seq);
    if (entry) entries.push(entry);
  }
  return entries;
}

function useWidth(): [(element: HTMLDivElement | null) => void, number] {
  const [width, setWidth] = useState(0);
  const observer = useRef<ResizeObserver | null>(null);
  const [element, setElement] = useState<HTMLDivElement | null>(null);
  useLayoutEffect(() => {
    if (!element) return;
    observer.current = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.current.observe(element);
    return () => observer.current?.disconnect();
  }, [element]);
  return [setElement, width];
}
