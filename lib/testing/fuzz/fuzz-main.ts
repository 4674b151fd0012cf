/**
 * `npm run fuzz`: many inputs in worker threads under a watchdog; progress, findings, a file for each.
 *
 * Holds: an input that hangs or exhausts memory ends its thread, is a finding, and the campaign goes on behind it.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { fuzzInput } from "./fuzz-input";
import type { Finding } from "./run-inputs";

const batch = 500;
// Whoever stands still this long hangs, however busy the machine is; shorter ones are timed in the thread.
const hangMs = 20_000;
// A thread that needs more than this for charts of some KB leaks.
const heapMb = 768;
const folder = ".cache/fuzz";

export interface FuzzOptions {
  count: number;
  seed: number;
  threads: number;
  /** The bundled fuzz-worker. */
  worker: string;
}

/** How many findings. */
export async function runFuzz({ count, seed, threads, worker }: FuzzOptions): Promise<number> {
  const began = performance.now();
  const say = (text: string): void => {
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stdout.write(`${seconds} s: ${text}\n`);
  };
  process.stdout.write(`${count} inputs, seeds from ${seed}, ${threads} thread${threads === 1 ? "" : "s"}\n`);
  let [next, done, rssMax] = [seed, 0, 0];
  const end = seed + count;
  const findings = new Map<string, number>();

  const note = (finding: Finding): void => {
    const sign = `${finding.kind}: ${finding.problem}`;
    const times = findings.get(sign) ?? 0;
    findings.set(sign, times + 1);
    if (times > 0) return;
    const file = join(folder, `${finding.kind}-${finding.seed}.txt`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, finding.text);
    say(`FOUND ${sign}\n  seed ${finding.seed}, ${finding.text.length} characters: ${file}`);
  };
  const lost = (at: number, problem: string): void => note({ ...fuzzInput(at), problem });

  const thread = (): Promise<void> =>
    new Promise((resolve) => {
      let range = { from: 0, to: 0 };
      let alive: Worker;
      let current: Int32Array;
      let [seen, seenAt] = [-1, 0];
      const take = (from: number, to: number): void => {
        range = { from, to };
        [seen, seenAt] = [-1, performance.now()];
        Atomics.store(current, 0, from);
        alive.postMessage(range);
      };
      const more = (): void => {
        if (next >= end) return finish();
        const from = next;
        next = Math.min(end, from + batch);
        take(from, next);
      };
      const finish = (): void => {
        clearInterval(watchdog);
        void alive.terminate();
        resolve();
      };
      /** Goes on behind the input that ended the thread. */
      const replace = (problem: string): void => {
        const at = Atomics.load(current, 0);
        lost(at, problem);
        const { from, to } = range;
        done += at + 1 - from;
        void alive.terminate();
        open();
        if (at + 1 < to) take(at + 1, to);
        else more();
      };
      const open = (): void => {
        current = new Int32Array(new SharedArrayBuffer(4));
        const own = (alive = new Worker(worker, {
          workerData: { current: current.buffer },
          resourceLimits: { maxOldGenerationSizeMb: heapMb },
        }));
        own.on("message", (message: { finding?: Finding; done?: number }) => {
          if (own !== alive) return;
          if (message.finding !== undefined) note(message.finding);
          if (message.done === undefined) return;
          done += message.done;
          more();
        });
        own.on("error", (error: Error) => {
          if (own === alive) replace(`ended its thread: ${error.message}`);
        });
      };
      const watchdog = setInterval(() => {
        const at = Atomics.load(current, 0);
        if (at !== seen) [seen, seenAt] = [at, performance.now()];
        else if (performance.now() - seenAt > hangMs) replace(`hangs for more than ${hangMs / 1000} s`);
      }, 500);
      open();
      more();
    });

  const progress = setInterval(() => {
    const { rss } = process.memoryUsage();
    rssMax = Math.max(rssMax, rss);
    say(`${done} of ${count}, ${findings.size} findings, ${Math.round(rss / 2 ** 20)} MB`);
  }, 10_000);
  await Promise.all(Array.from({ length: threads }, thread));
  clearInterval(progress);
  say(`${done} of ${count}, ${findings.size} findings, at most ${Math.round(rssMax / 2 ** 20)} MB`);
  for (const [sign, times] of findings) process.stdout.write(`${times} × ${sign}\n`);
  return findings.size;
}
