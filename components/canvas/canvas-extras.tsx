"use client";
/**
 * What the editor adds to the shared drawing: name fields, connection handles, label fields. The viewer adds nothing.
 */
import { createContext, useContext, type ReactNode } from "react";
import type { SceneArrow, SceneBox } from "@/lib/diagram/scene";

export interface CanvasExtras {
  /** Stands in for a state's name while it is edited. */
  title?: (box: SceneBox) => ReactNode;
  /** Over a state's border. */
  handles?: (box: SceneBox) => ReactNode;
  /** Stands in for a pill while its label is edited. */
  label?: (arrow: SceneArrow) => ReactNode;
  onPill?: (transition: string, event: "click" | "double-click" | "enter") => void;
}

const Extras = createContext<CanvasExtras | null>(null);
export const CanvasExtrasProvider = Extras.Provider;
export const useStateExtras = (): CanvasExtras | null => useContext(Extras);
