/**
 * The flags of `npm run worker`. Each goes before the environment variable of the same meaning (config.ts).
 *
 *   --partitions 0-31         those whose instances it steps; others must step the rest
 *   --slots 4                 tasks that it carries out at once by itself
 *   --high-ratio 0.8          with this probability a claim takes the urgent first
 *   --priority-threshold 2    from this priority on, a minute's wait being one, an instance or task is urgent
 *
 * Holds: a wrong flag is an Error that names it, what was found and what would do.
 */
import { parseArgs } from "node:util";
import type { z } from "zod";
import type { WorkerOptions } from "./compose";
import { workerSettings } from "./config";

const text = { type: "string" } as const;

export function readWorkerOptions(args: string[]): WorkerOptions {
  const { values } = parseArgs({
    args,
    options: { partitions: text, slots: text, "high-ratio": text, "priority-threshold": text },
  });
  return {
    ...(values.partitions === undefined ? {} : { partitions: partitionsOf(values.partitions) }),
    ...read("slots", "slots", values.slots),
    ...read("highRatio", "high-ratio", values["high-ratio"]),
    ...read("priorityThreshold", "priority-threshold", values["priority-threshold"]),
  };
}

function read<Name extends keyof typeof workerSettings>(
  name: Name,
  flag: string,
  given: string | undefined,
): { [Key in Name]?: number } {
  if (given === undefined) return {};
  const schema: z.ZodType<number, string> = workerSettings[name];
  const parsed = schema.safeParse(given);
  if (parsed.success) return { [name]: parsed.data } as { [Key in Name]?: number };
  throw new Error(`--${flag} ${parsed.error.issues[0]?.message ?? "is wrong"}, not ${given}.`);
}

function partitionsOf(given: string): { from: number; to: number } {
  const found = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(given);
  const from = Number(found?.[1]);
  const to = Number(found?.[2] ?? found?.[1]);
  if (from <= to && to <= 63) return { from, to };
  throw new Error(`--partitions must be two numbers from 0 to 63, as 0-31, not ${given}.`);
}
