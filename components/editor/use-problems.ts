"use client";
/**
 * Keeps the store's problems up with its document: ~200 ms after a change, in a worker.
 */
import { useEffect } from "react";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import { useDocument, useEditorStore } from "./editor-store";

const pauseMs = 200;

export function useProblems(): void {
  const store = useEditorStore();
  const document = useDocument();
  useEffect(() => {
    const worker = sharedWorker();
    const id = ++asked;
    const timer = setTimeout(() => worker.postMessage({ id, chart: document.chart }), pauseMs);
    const onMessage = ({ data }: MessageEvent<{ id: number; problems: Diagnostic[] }>) => {
      if (data.id === id) store.setState({ problems: data.problems, checked: document });
    };
    worker.addEventListener("message", onMessage);
    return () => {
      clearTimeout(timer);
      worker.removeEventListener("message", onMessage);
    };
  }, [document, store]);
}

let asked = 0;
let worker: Worker | undefined;
const sharedWorker = (): Worker =>
  (worker ??= new Worker(new URL("./problems.worker.ts", import.meta.url), { type: "module" }));
