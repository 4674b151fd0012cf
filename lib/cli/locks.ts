/**
 * `lockstep locks`: a server's locks, listed, shown, and taken away by force.
 *
 * Holds: a force-release names the fence it is about: one that has moved meanwhile is refused, exit 1.
 */
import { parseArgs } from "node:util";
import { assert } from "@/lib/base/assert";
import type { Client } from "@/lib/client/client";
import type { LockSummary } from "@/lib/contract/locks";
import { askServer, itemsOf, serverOptions } from "./ask-server";
import { requireVerb } from "./require-verb";
import { UsageError, type ExitCode } from "./usage";
import { wholeNumber } from "./whole-number";
import { writeLine } from "./write-line";

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...serverOptions,
      status: { type: "string" },
      search: { type: "string" },
      limit: { type: "string", default: "50" },
      fence: { type: "string" },
      reason: { type: "string" },
    },
  });
type Values = ReturnType<typeof parse>["values"];

export async function locks(args: string[]): Promise<ExitCode> {
  const { values, positionals } = parse(args);
  return askServer(values.url, async (client) => {
    const [verb = "list", key, ...more] = positionals;
    requireVerb("locks", verb, ["list", "show", "log", "force-release"]);
    if (more.length > 0) throw new UsageError("locks takes one verb and one key.");
    if (verb === "list" && key === undefined) await list(client, values);
    else if (key === undefined) throw new UsageError(`locks ${verb} needs a key.`);
    else await act(client, verb, key, values);
    return undefined;
  });
}

async function list(client: Client, { status, search, json }: Values): Promise<void> {
  const filter = {
    // The server says which there are.
    ...(status === undefined ? {} : { status: status as LockSummary["status"] }),
    ...(search === undefined ? {} : { search }),
  };
  for await (const item of itemsOf((place) =>
    client.listLocks({
      ...filter,
      ...place,
    }),
  )) {
    const { key, health, holder, fence, waiters } = item;
    const line = [key, health, holder ?? "-", `fence ${fence}`, `${waiters} waiting`].join("\t");
    await writeLine(json ? JSON.stringify(item) : line);
  }
}

async function act(client: Client, verb: string, key: string, values: Values): Promise<void> {
  if (verb === "show") {
    await writeLine(JSON.stringify(await client.getLock({ key }), null, values.json ? 0 : 2));
  } else if (verb === "log") {
    const limit = Math.min(200, wholeNumber("--limit", values.limit));
    const { items } = await client.getLockLog({ key, limit });
    for (const entry of items) {
      const { seq, at, type, holder, fence, actor, reason } = entry;
      const line = [
        `#${seq}`,
        new Date(at).toISOString(),
        type,
        holder ?? "-",
        `fence ${fence}`,
        actor,
        reason ?? "",
      ];
      await writeLine(values.json ? JSON.stringify(entry) : line.join("\t").trimEnd());
    }
  } else {
    assert(verb === "force-release", "every verb that is known is done");
    const { reason } = values;
    if (reason === undefined || reason.trim() === "") {
      throw new UsageError("locks force-release needs --reason: log and audit keep it.");
    }
    if (values.fence === undefined) {
      throw new UsageError(
        "locks force-release needs --fence, as locks show tells it: it may have moved since.",
      );
    }
    const expectedFence = wholeNumber("--fence", values.fence, 0);
    const done = await client.forceReleaseLock(
      { key, expectedFence, reason },
      { idempotencyKey: crypto.randomUUID() },
    );
    const next = done.nextHolder === null ? "it is free" : `${done.nextHolder} has it`;
    await writeLine(
      values.json
        ? JSON.stringify(done)
        : `${key} was taken from ${done.previousHolder ?? "nobody"}; ${next}, fence ${done.fence}`,
    );
  }
}
