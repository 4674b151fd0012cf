"use client";
/**
 * Zoom out, level, in, fit: bottom right of every drawing.
 */
import { useReactFlow, useStore } from "@xyflow/react";
import { Maximize, Minus, Plus } from "lucide-react";
import { Kbd } from "@/components/ui/kbd";

export const fitOptions = { padding: 0.07, maxZoom: 1, duration: 200 } as const;

export function CanvasControls() {
  const { zoomIn, zoomOut, zoomTo, fitView } = useReactFlow();
  const zoom = useStore((state) => Math.round(state.transform[2] * 100));
  const button =
    "flex h-full items-center gap-1.5 px-2.5 text-text-2 hover:bg-surface-2 hover:text-text transition-colors duration-90";
  return (
    <div
      role="group"
      aria-label="Zoom"
      className="flex h-7 items-center overflow-hidden rounded-control border border-border-2 bg-surface text-hint shadow-2"
    >
      <button
        type="button"
        className={button}
        aria-label="Zoom out"
        onClick={() => void zoomOut({ duration: 140 })}
      >
        <Minus size={13} aria-hidden />
      </button>
      <button
        type="button"
        className={`${button} min-w-12 justify-center border-x border-border tabular-nums`}
        aria-label={`Zoom ${zoom} %, set to 100 %`}
        onClick={() => void zoomTo(1, { duration: 200 })}
      >
        {zoom}%
      </button>
      <button
        type="button"
        className={button}
        aria-label="Zoom in"
        onClick={() => void zoomIn({ duration: 140 })}
      >
        <Plus size={13} aria-hidden />
      </button>
      <button
        type="button"
        className={`${button} border-l border-border`}
        aria-label="Fit the drawing"
        onClick={() => void fitView(fitOptions)}
      >
        <Maximize size={13} aria-hidden /> Fit <Kbd className="h-4">⇧1</Kbd>
      </button>
    </div>
  );
}
