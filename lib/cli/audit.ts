/**
 * `lockstep audit`: who did what on a server, newest first.
 */
import { parseArgs } from "node:util";
import { askServer, itemsOf, serverOptions } from "./ask-server";
import { UsageError, type ExitCode } from "./usage";
import { wholeNumber } from "./whole-number";
import { writeLine } from "./write-line";

const shownDefault = "50";

export async function audit(args: string[]): Promise<ExitCode> {
  const { values } = parseArgs({
    args,
    options: {
      ...serverOptions,
      actor: { type: "string" },
      action: { type: "string" },
      target: { type: "string" },
      outcome: { type: "string" },
      from: { type: "string" },
      to: { type: "string" },
      limit: { type: "string", default: shownDefault },
    },
  });
  const { actor, action, target, outcome, json } = values;
  const [from, to] = [timeOf("--from", values.from), timeOf("--to", values.to)];
  let left = wholeNumber("--limit", values.limit);
  return askServer(values.url, {}, async (client) => {
    const filter = { actor, action, target, outcome, from, to };
    for await (const entry of itemsOf((place) => client.listAudit({ ...filter, ...place }))) {
      const { at, actor: by, action: verb, target: of, outcome: end, details } = entry;
      const line = [new Date(at).toISOString(), by, verb, of, end, JSON.stringify(details)].join("\t");
      await writeLine(json ? JSON.stringify(entry) : line);
      left -= 1;
      if (left === 0) break;
    }
    return undefined;
  });
}

/** A date, or a date and a time, as ISO 8601 writes it; without a zone it is this machine's. */
function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new UsageError(`${name} takes a time, such as 2026-11-30T08:00Z, not ${text}.`);
  return at;
}
