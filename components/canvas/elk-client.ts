/**
 * ELK in a Web Worker, one for the tab.
 */
import ElkApi, { type ELK } from "elkjs/lib/elk-api";

let elk: ELK | undefined;

export function elkClient(): ELK {
  elk ??= new ElkApi({
    workerFactory: () => new Worker(new URL("elkjs/lib/elk-worker.min.js", import.meta.url)),
  });
  return elk;
}
