/**
 * `lockstep worker`: a module's functions as a task worker over HTTP, until it is told to stop.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { TaskFunction } from "@/lib/client/task-function";
import { runTaskWorker, type WorkerEvent } from "@/lib/client/task-worker";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeLine } from "./write-line";

export async function worker(args: string[]): Promise<ExitCode> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      url: { type: "string", default: "http://127.0.0.1:3000" },
      slots: { type: "string", default: "4" },
      id: { type: "string" },
    },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError("worker takes one module.");
  const slots = Number(values.slots);
  if (!/^\d{1,4}$/.test(values.slots) || slots < 1 || slots > 1_000) {
    throw new UsageError(`--slots takes a whole number from 1 to 1000, not ${values.slots}.`);
  }
  if (!URL.canParse(values.url)) throw new UsageError(`--url takes an address, not ${values.url}.`);
  const tasks = await tasksOf(file);
  const running = runTaskWorker({
    baseUrl: new URL(values.url).origin,
    tasks,
    slots,
    report,
    ...(values.id === undefined ? {} : { workerId: values.id }),
  });
  await writeLine(
    `${running.workerId} takes ${Object.keys(tasks).join(", ")} from ${values.url}, ${slots} at once`,
  );
  try {
    await running.ended;
    return exit.ok;
  } catch (error) {
    process.stderr.write(`lockstep: ${messageOf(error)}\n`);
    return exit.chart;
  }
}

/** Functions it exports by name, and those of an object it exports as default (for names that JavaScript hasn't). */
async function tasksOf(file: string): Promise<Record<string, TaskFunction>> {
  const path = resolve(file);
  if (!existsSync(path)) throw new UsageError(`${file} isn't there.`);
  const { default: byDefault, ...named } = (await import(pathToFileURL(path).href)) as Record<
    string,
    unknown
  >;
  const found = { ...(typeof byDefault === "object" ? byDefault : {}), ...named };
  const tasks = Object.entries(found).filter(([, value]) => typeof value === "function");
  if (tasks.length === 0) throw new UsageError(`${file} exports no function to carry out tasks with.`);
  return Object.fromEntries(tasks) as Record<string, TaskFunction>;
}

/** One line for what went wrong, on standard error; what goes well is in the instances' logs. */
function report(event: WorkerEvent): void {
  switch (event.kind) {
    case "trouble":
      process.stderr.write(`lockstep: ${messageOf(event.error)}\n`);
      return;
    case "failed":
    case "lease-lost":
    case "given-back": {
      const { type, idempotencyKey, attempt } = event.task;
      const why = event.error === undefined ? "" : `: ${messageOf(event.error)}`;
      process.stderr.write(`${type} ${idempotencyKey}, attempt ${attempt}: ${event.kind}${why}\n`);
      return;
    }
    case "claimed":
    case "succeeded":
    case "cancelled":
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
