/**
 * ELK in a Web Worker, one for the tab.
 *
 * Holds: a layout answers within `layoutMsMax` or is given up with a LayoutTimeout; the stuck worker is replaced.
 */
import ElkApi, { type ELK } from "elkjs/lib/elk-api";
import { LayoutTimeout, type ElkEngine } from "@/lib/diagram/auto-layout";

/** One unit of the largest charts takes ELK a second or two; a person waits no longer than this for a drawing. */
const layoutMsMax = 10_000;

let elk: ELK | undefined;

export function elkClient(): ElkEngine {
  return { layout };
}

const layout: ElkEngine["layout"] = (graph) => {
  elk ??= new ElkApi({
    workerFactory: () => new Worker(new URL("elkjs/lib/elk-worker.min.js", import.meta.url)),
  });
  const used = elk;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      used.terminateWorker();
      if (elk === used) elk = undefined;
      reject(new LayoutTimeout(`no layout within ${layoutMsMax / 1000} s`));
    }, layoutMsMax);
    used
      .layout(graph)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
};
