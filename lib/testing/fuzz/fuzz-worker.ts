/**
 * A thread of the fuzz campaign: tries the batches it is given. The seed in hand lies in shared memory, where the watchdog
 * sees it stand still.
 */
import { parentPort, workerData } from "node:worker_threads";
import { must } from "@/lib/base/assert";
import { runInputs } from "./run-inputs";

const port = must(parentPort, "the fuzz worker runs as a thread");
const current = new Int32Array((workerData as { current: SharedArrayBuffer }).current);

port.on("message", ({ from, to }: { from: number; to: number }) => {
  runInputs(from, to, {
    onInput: (seed) => Atomics.store(current, 0, seed),
    onFinding: (finding) => port.postMessage({ finding }),
  });
  port.postMessage({ done: to - from });
});
