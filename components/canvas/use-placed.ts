"use client";
/**
 * The complete layout of a chart: as stored, or computed for what has no place yet.
 */
import { useEffect, useMemo, useState } from "react";
import { completeLayout, isComplete } from "@/lib/diagram/complete-layout";
import type { Layout } from "@/lib/diagram/layout";
import type { Measure } from "@/lib/diagram/measure";
import { buildScene, type Scene } from "@/lib/diagram/scene";
import type { Chart } from "@/lib/statechart/document";
import { browserMeasure } from "./browser-measure";
import { elkClient } from "./elk-client";

export interface Placed {
  scene: Scene;
  layout: Layout;
}

/** The browser's measure, once its fonts are there. */
export function useMeasure(): Measure | null {
  const [measure, setMeasure] = useState<Measure | null>(null);
  useEffect(() => {
    let live = true;
    void browserMeasure().then((loaded) => {
      if (live) setMeasure(() => loaded);
    });
    return () => {
      live = false;
    };
  }, []);
  return measure;
}

/** null until the first layout is there. Keeps the last one while a new one is computed. */
export function usePlaced(
  chart: Chart,
  layout: Layout,
  onLayout?: (layout: Layout) => void,
  rootTitle?: string,
): { placed: Placed | null; failure: string | null } {
  const measure = useMeasure();
  const collapsed = useMemo(() => collapsedIn(layout), [layout]);
  const scene = useMemo(
    () => buildScene(chart, { collapsed, ...(rootTitle === undefined ? {} : { rootTitle }) }),
    [chart, collapsed, rootTitle],
  );
  const [computed, setComputed] = useState<{
    scene: Scene;
    from: Layout;
    layout: Layout;
    failure: string | null;
  } | null>(null);
  const whole = isComplete(scene, layout);

  useEffect(() => {
    if (whole || !measure) return;
    let live = true;
    // About what the canvas has beside the panels of a page.
    const room = { w: window.innerWidth * 0.7, h: window.innerHeight * 0.7 };
    void completeLayout(scene, layout, measure, elkClient, room).then((result) => {
      if (!live) return;
      setComputed({ scene, from: layout, ...result });
      onLayout?.(result.layout);
    });
    return () => {
      live = false;
    };
    // onLayout is told, not watched.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [scene, layout, measure, whole]);

  const placed = useMemo<Placed | null>(() => {
    if (whole) return { scene, layout };
    return computed && { scene: computed.scene, layout: computed.layout };
  }, [whole, scene, layout, computed]);
  return { placed, failure: computed?.failure ?? null };
}

export function collapsedIn(layout: Layout): ReadonlySet<string> {
  return new Set(Object.entries(layout.states).flatMap(([name, box]) => (box.collapsed ? [name] : [])));
}
