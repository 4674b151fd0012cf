/**
 * `lockstep instances`: a server's instances, listed and controlled.
 *
 * Holds: each call carries an idempotency key of its own; what the server refuses is said in its words, exit 1.
 */
import { parseArgs } from "node:util";
import type { Client } from "@/lib/client/client";
import { assert } from "@/lib/base/assert";
import type { InstanceStatus, MigrateResult } from "@/lib/contract/instances";
import { askServer, itemsOf, serverOptions } from "./ask-server";
import { requireVerb } from "./require-verb";
import { exit, UsageError, type ExitCode } from "./usage";
import { wholeNumber } from "./whole-number";
import { writeLine } from "./write-line";

const controls = {
  suspend: "suspendInstance",
  resume: "resumeInstance",
  cancel: "cancelInstance",
  terminate: "terminateInstance",
  redrive: "redriveInstance",
} as const;
const verbs = ["list", "show", ...Object.keys(controls), "fork", "migrate"];
const isControl = (verb: string): verb is keyof typeof controls => Object.hasOwn(controls, verb);

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...serverOptions,
      chart: { type: "string" },
      status: { type: "string" },
      reason: { type: "string" },
      seq: { type: "string" },
      version: { type: "string" },
      map: { type: "string", multiple: true, default: [] },
      "dry-run": { type: "boolean", default: false },
    },
  });
type Values = ReturnType<typeof parse>["values"];

export async function instances(args: string[]): Promise<ExitCode> {
  const { values, positionals } = parse(args);
  return askServer(values.url, async (client) => {
    const [verb = "list", instanceId, ...more] = positionals;
    requireVerb("instances", verb, verbs);
    if (more.length > 0) throw new UsageError("instances takes one verb and one id.");
    if (verb === "list" && instanceId === undefined) await list(client, values);
    else if (instanceId === undefined) throw new UsageError(`instances ${verb} needs an id.`);
    else return act(client, verb, instanceId, values);
    return exit.ok;
  });
}

async function list(client: Client, { chart, status, json }: Values): Promise<void> {
  const filter = {
    ...(chart === undefined ? {} : { chartId: chart }),
    // The server says which there are.
    ...(status === undefined ? {} : { status: status as InstanceStatus }),
  };
  for await (const item of itemsOf((place) =>
    client.listInstances({
      ...filter,
      ...place,
    }),
  )) {
    const { id, status: is, configuration, chartId, version, seq } = item;
    const line = [id, is, configuration.join(","), `${chartId} v${version}`, `#${seq}`].join("\t");
    await writeLine(json ? JSON.stringify(item) : line);
  }
}

async function act(client: Client, verb: string, instanceId: string, values: Values): Promise<ExitCode> {
  const reason = (): string => {
    if (values.reason !== undefined && values.reason.trim() !== "") return values.reason;
    throw new UsageError(`instances ${verb} needs --reason: log and audit keep it.`);
  };
  const key = { idempotencyKey: crypto.randomUUID() };
  const say = (result: { status: string; seq: number }, text: string) =>
    writeLine(values.json ? JSON.stringify(result) : text);
  if (verb === "show") {
    await writeLine(JSON.stringify(await client.getInstance({ instanceId }), null, values.json ? 0 : 2));
  } else if (isControl(verb)) {
    const result = await client[controls[verb]]({ instanceId, reason: reason() }, key);
    await say(
      result,
      `${instanceId} ${result.changed ? "is" : "was already"} ${result.status}, #${result.seq}`,
    );
  } else if (verb === "fork") {
    const seq = values.seq === undefined ? {} : { seq: wholeNumber("--seq", values.seq) };
    const forked = await client.forkInstance({ instanceId, ...seq, reason: reason() }, key);
    await say(forked, forked.id);
  } else {
    assert(verb === "migrate", "every verb that is known is done");
    const result = await client.migrateInstance(
      {
        instanceId,
        version: wholeNumber("--version", values.version),
        mapping: Object.fromEntries(values.map.map(pairOf)),
        dryRun: values["dry-run"],
        reason: reason(),
      },
      key,
    );
    const moved = result.changed
      ? `is of version ${result.version} now, #${result.seq}`
      : result.plan.verdict;
    await say(result, [`${instanceId} ${moved}`, ...planLines(result.plan)].join("\n"));
    // As the same call without --dry-run would end: the server would refuse it.
    if (result.plan.verdict !== "ok") return exit.chart;
  }
  return exit.ok;
}

/** All that a migration does, or would do. */
const planLines = ({ states, timersDropped, contextAdded }: MigrateResult["plan"]): string[] => [
  ...states.map(({ state, to, verdict, why }) =>
    [
      `  ${state} → ${to ?? "?"}`,
      ...(verdict === "ok" ? [] : [verdict]),
      ...(why === null ? [] : [why]),
    ].join("  "),
  ),
  ...timersDropped.map((timer) => `  timer ${timer} is dropped`),
  ...contextAdded.map((root) => `  context.${root} is added`),
];

function pairOf(text: string): [from: string, to: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--map takes OLD=NEW, not ${text}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}
