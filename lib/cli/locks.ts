/**
 * `lockstep locks`: a server's locks, listed, shown, held for a while by a person or a script, and taken away by force.
 *
 * Holds: a force-release names the fence it is about: one that has moved meanwhile is refused, exit 1. `acquire`, `renew` and
 *        `release` can be repeated as they are: the same session gets the same fence. Exit 0 of `acquire`: the lock is held.
 */
import { parseArgs } from "node:util";
import { assert } from "@/lib/base/assert";
import type { Client } from "@/lib/client/client";
import type { ResponseOf } from "@/lib/contract/endpoints";
import { coolsUntil, grantTerms, type LockLogEntry, type LockSummary } from "@/lib/contract/locks";
import { askServer, itemsOf, serverOptions } from "./ask-server";
import { requireReason } from "./require-reason";
import { requireVerb } from "./require-verb";
import { spanOf } from "./span";
import { exit, UsageError, type ExitCode } from "./usage";
import { optionalWholeNumber, wholeNumber } from "./whole-number";
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
      session: { type: "string" },
      holder: { type: "string" },
      "ttl-ms": { type: "string" },
      "wait-ms": { type: "string" },
      "hold-max-ms": { type: "string" },
      "cool-ms": { type: "string" },
    },
  });
type Values = ReturnType<typeof parse>["values"];

/** Fields that the command calls otherwise. */
const names = { key: "KEY", keys: "KEY", expectedFence: "--fence" };

export async function locks(args: string[]): Promise<ExitCode> {
  const { values, positionals } = parse(args);
  return askServer(values.url, names, async (client) => {
    const [verb = "list", ...keys] = positionals;
    const [key, ...more] = keys;
    requireVerb("locks", verb, ["list", "show", "log", "acquire", ...Object.keys(leases), "force-release"]);
    if (more.length > 0 && verb !== "acquire")
      throw new UsageError("locks takes one verb and one key; acquire takes several.");
    if (verb === "acquire") return acquire(client, keys, values);
    if (verb === "list" && key === undefined) await list(client, values);
    else if (key === undefined) throw new UsageError(`locks ${verb} needs a key.`);
    else if (isLease(verb)) return leases[verb](client, key, values);
    else await act(client, verb, key, values);
    return exit.ok;
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
    const { key, status, health, holder, fence, waiters, coolUntil } = item;
    const how = status === "free" && coolUntil !== null ? "cooling" : health;
    const line = [key, how, holder ?? "-", `fence ${fence}`, `${waiters} waiting`].join("\t");
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
      const { seq, at, type, holder, fence, actor } = entry;
      const line = [
        `#${seq}`,
        new Date(at).toISOString(),
        type,
        holder ?? "-",
        `fence ${fence}`,
        actor,
        entryWords(entry),
      ];
      await writeLine(values.json ? JSON.stringify(entry) : line.join("\t").trimEnd());
    }
  } else {
    assert(verb === "force-release", "every verb that is known is done");
    const reason = requireReason("locks force-release", values.reason);
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

/** What is to be told of an entry beside its columns: a grant's terms, a cooling, a reason. */
function entryWords(entry: LockLogEntry): string {
  const { type, reason } = entry;
  const isGrant = type === "ACQUIRED" || type === "HANDOFF";
  const { ttlMs, holdMaxMs, coolMs } = grantTerms(entry);
  const cooled = coolsUntil(entry);
  return [
    ...(reason === null ? [] : [reason]),
    ...(!isGrant || ttlMs === null ? [] : [ttlMs === 0 ? "without a lease" : `ttl ${spanOf(ttlMs)}`]),
    ...(!isGrant || holdMaxMs === null ? [] : [`held at most ${spanOf(holdMaxMs)}`]),
    ...(!isGrant || coolMs === null ? [] : [`cools ${spanOf(coolMs)} after`]),
    ...(cooled === null ? [] : [`cools ${until(cooled)}`]),
  ].join(", ");
}

/** Under a session of its own; nobody renews by itself here: --ttl-ms is the whole time. All of the keys are had, or none. */
async function acquire(client: Client, keys: readonly string[], values: Values): Promise<ExitCode> {
  const session = sessionOf("acquire", values);
  const times = {
    ttlMs: ttlOf(values),
    waitMs: optionalWholeNumber("--wait-ms", values["wait-ms"], 0),
    holdMaxMs: optionalWholeNumber("--hold-max-ms", values["hold-max-ms"]),
    coolMs: optionalWholeNumber("--cool-ms", values["cool-ms"], 0),
  };
  const call = { session, holder: values.holder ?? session, ...times };
  const [key, ...more] = keys;
  if (key === undefined) throw new UsageError("locks acquire needs a key.");
  const options = { idempotencyKey: crypto.randomUUID() };
  const answer =
    more.length === 0
      ? await client.acquireLock({ key, ...call }, options)
      : await client.acquireLocks({ keys: [...keys], ...call }, options);
  if (values.json) await writeLine(JSON.stringify(answer));
  else if (answer.result === "busy") {
    const held = ("locks" in answer ? answer.locks : [answer]).map(
      (lock) => `${lock.key} ${busyWords(lock)}; --wait-ms waits, as number ${lock.position} in line.`,
    );
    process.stderr.write(`lockstep: ${held.join("\n          ")}\n`);
  } else if ("locks" in answer)
    for (const lock of answer.locks) await writeLine(`${lock.key}\t${lock.fence}`);
  // The fence alone, for `fence=$(lockstep locks acquire KEY …)`.
  else await writeLine(String(answer.fence));
  return answer.result === "acquired" ? exit.ok : exit.chart;
}

const leases = {
  async renew(client: Client, key: string, values: Values): Promise<ExitCode> {
    const call = { key, ...leaseOf("renew", values), ttlMs: ttlOf(values) };
    const answer = await client.renewLock(call, { idempotencyKey: crypto.randomUUID() });
    await writeLine(values.json ? JSON.stringify(answer) : `${key} is yours ${until(answer.expiresAt)}`);
    return exit.ok;
  },
  async release(client: Client, key: string, values: Values): Promise<ExitCode> {
    const lease = leaseOf("release", values);
    const answer = await client.releaseLock({ key, ...lease }, { idempotencyKey: crypto.randomUUID() });
    const text = {
      released: `${key} is released`,
      "already-released": `${key} was already released`,
      stale: `${key} was no longer yours under fence ${lease.fence}: the newest is ${answer.fence}`,
    }[answer.result];
    await writeLine(values.json ? JSON.stringify(answer) : text);
    return answer.result === "stale" ? exit.chart : exit.ok;
  },
};
const isLease = (verb: string): verb is keyof typeof leases => Object.hasOwn(leases, verb);

function sessionOf(verb: string, { session }: Values): string {
  if (session !== undefined) return session;
  throw new UsageError(
    `locks ${verb} needs --session: a name for who holds it, the same until it is released.`,
  );
}

function leaseOf(verb: string, values: Values): { session: string; fence: number } {
  const session = sessionOf(verb, values);
  if (values.fence !== undefined) return { session, fence: wholeNumber("--fence", values.fence) };
  throw new UsageError(`locks ${verb} needs --fence, as locks acquire told it.`);
}

const ttlOf = (values: Values): number | undefined => optionalWholeNumber("--ttl-ms", values["ttl-ms"]);

type BusyLock = Extract<ResponseOf<"acquireLocks">, { result: "busy" }>["locks"][number];

function busyWords({ holder, expiresAt, coolUntil }: BusyLock): string {
  if (coolUntil !== null) return `cools down ${until(coolUntil)}`;
  if (holder === null) return "is free, and others are before you in line";
  return `is held by ${holder}${expiresAt === null ? "" : ` ${until(expiresAt)}`}`;
}

const until = (at: number): string => `until ${new Date(at).toISOString()}`;
