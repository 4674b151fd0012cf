/**
 * `lockstep render IN OUT.svg|OUT.png`: a chart as a drawing.
 */
import { parseArgs } from "node:util";
import { convert } from "./convert";
import { drawingOf } from "./draw";
import { UsageError, type ExitCode } from "./usage";

export function render(args: string[]): Promise<ExitCode> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [from, to] = positionals;
  if (from === undefined || to === undefined || positionals.length > 2)
    throw new UsageError("render needs exactly IN and OUT.svg or OUT.png.");
  if (drawingOf(to) === null)
    throw new UsageError(`render draws: let ${to} end in .svg or .png. Nothing was written.`);
  return convert([from, to]);
}
