/**
 * `lockstep workers`: a server's workers, listed, drained, their breakers reset.
 */
import { parseArgs } from "node:util";
import type { Client } from "@/lib/client/client";
import { askServer, serverOptions } from "./ask-server";
import { requireVerb } from "./require-verb";
import { UsageError, type ExitCode } from "./usage";
import { writeLine } from "./write-line";

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...serverOptions,
      breaker: { type: "string" },
      reason: { type: "string" },
    },
  });
type Values = ReturnType<typeof parse>["values"];

/** Fields that the command calls otherwise. */
const names = { workerId: "ID", name: "--breaker" };

export async function workers(args: string[]): Promise<ExitCode> {
  const { values, positionals } = parse(args);
  return askServer(values.url, names, async (client) => {
    const [verb = "list", workerId, ...more] = positionals;
    requireVerb("workers", verb, ["list", "drain", "undrain", "reset"]);
    if (more.length > 0) throw new UsageError("workers takes one verb and one id.");
    if (verb === "list" && workerId === undefined) await list(client, values);
    else if (workerId === undefined) throw new UsageError(`workers ${verb} needs an id.`);
    else await act(client, verb, workerId, values);
    return undefined;
  });
}

async function list(client: Client, { json }: Values): Promise<void> {
  const { items, now } = await client.listWorkers();
  for (const item of items) {
    const { id, kind, status, drainAsked, running, slots, partitions, breakers, seenAt } = item;
    const line = [
      id,
      kind,
      drainAsked && status === "working" ? "drain asked" : status,
      `${running} of ${slots}`,
      `seen ${Math.max(0, Math.round((now - seenAt) / 1000))} s ago`,
      partitions === null ? "" : `partitions ${partitions}`,
      breakers.map(({ name, state }) => `${name} ${state}`).join(", "),
    ];
    await writeLine(json ? JSON.stringify(item) : line.filter((part) => part !== "").join("\t"));
  }
}

async function act(client: Client, verb: string, workerId: string, values: Values): Promise<void> {
  const { reason, breaker, json } = values;
  if (reason === undefined || reason.trim() === "") {
    throw new UsageError(`workers ${verb} needs --reason: the audit keeps it.`);
  }
  if (verb === "reset") {
    if (breaker === undefined) throw new UsageError("workers reset needs --breaker, as the list names it.");
    const done = await client.resetBreaker({ workerId, name: breaker, reason });
    await writeLine(json ? JSON.stringify(done) : `${workerId} closes ${breaker} within a second`);
  } else {
    const drain = verb === "drain";
    const done = await client.drainWorker({ workerId, drain, reason });
    const said = drain ? "takes no more" : "takes work again";
    await writeLine(json ? JSON.stringify(done) : `${workerId} ${said}, within seconds`);
  }
}
