/**
 * ELK in a thread of its own, where it can be stopped: answers each graph with the graph laid out or with what went wrong.
 * An entry of the bundle (`scripts/build-bin.mjs`), beside the chunk that starts it.
 */
import { parentPort } from "node:worker_threads";
import Elk, { type ElkNode } from "elkjs/lib/elk.bundled.js";
import { must } from "@/lib/base/assert";

export type LayoutAnswer = { graph: ElkNode } | { error: string };

const port = must(parentPort, "layout-thread runs as a worker thread");
const elk = new Elk();

port.on("message", (graph: ElkNode) => {
  elk.layout(graph).then(
    (done) => port.postMessage({ graph: done } satisfies LayoutAnswer),
    (error: unknown) =>
      port.postMessage({
        error: error instanceof Error ? error.message : String(error),
      } satisfies LayoutAnswer),
  );
});
