"use client";
/**
 * The borders of a state as handles: press and drag to draw a transition.
 */
import type { PointerEvent } from "react";
import type { SceneBox } from "@/lib/diagram/scene";

export function ConnectHandles({
  box,
  onStart,
}: {
  box: SceneBox;
  onStart: (source: string, event: PointerEvent) => void;
}) {
  if (box.kind === "initial" || box.kind === "final") return null;
  return (
    <>
      {(["top", "right", "bottom", "left"] as const).map((side) => (
        <span
          key={side}
          data-side={side}
          data-testid="connect-handle"
          className="le-handle nodrag nopan"
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            event.stopPropagation();
            onStart(box.id, event);
          }}
        />
      ))}
    </>
  );
}
