/**
 * ELK behind a time bound: dense charts take it minutes, and a command that draws answers sooner, by the grid.
 *
 * Holds: all layouts together take at most `msMax`; then, or when the thread dies (it may run out of memory), this one and
 * every later one is a LayoutTimeout. Graphs are asked for one after the other, as `autoLayout` does. `stop` ends the thread,
 * whatever it is at.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { LayoutTimeout, type ElkEngine } from "@/lib/diagram/auto-layout";
import type { LayoutAnswer } from "./layout-thread";

export function threadedElk(msMax: number): { elk: ElkEngine; stop: () => Promise<unknown> } {
  const thread = new Worker(new URL("./layout-thread.js", import.meta.url));
  const given = new AbortController();
  let reason = `no layout within ${msMax / 1000} s`;
  const timer = setTimeout(() => given.abort(), msMax);
  thread.on("error", (error) => {
    reason = `the layout broke off: ${error.message}`;
    given.abort();
  });
  const layout: ElkEngine["layout"] = async (graph) => {
    let answer: LayoutAnswer;
    try {
      const answered = once(thread, "message", { signal: given.signal });
      thread.postMessage(graph);
      [answer] = (await answered) as [LayoutAnswer];
    } catch {
      throw new LayoutTimeout(reason);
    }
    if ("error" in answer) throw new Error(answer.error);
    return answer.graph;
  };
  const stop = (): Promise<unknown> => {
    clearTimeout(timer);
    return thread.terminate();
  };
  return { elk: { layout }, stop };
}
