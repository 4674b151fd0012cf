/**
 * `lockstep batch`: one control verb over many of a server's instances.
 *
 * Holds: nothing is done without `--yes`; until then all that can be refused before anything is done is refused as it would be
 *        with it, else it is said what would be done and how many instances it is about. What the server refuses is
 *        said in its words, exit 1; so is a batch of which something was refused, with --wait.
 */
import { parseArgs } from "node:util";
import { assert } from "@/lib/base/assert";
import type { ArgsOf, Client } from "@/lib/client/client";
import {
  batchVerb,
  type BatchCount,
  type BatchSelection,
  type BatchVerb,
  type BatchView,
} from "@/lib/contract/batches";
import type { ConditionName, InstanceStatus } from "@/lib/contract/instances";
import { askServer, itemsOf, serverOptions } from "./ask-server";
import { readPairs, searchFields, searchLabels } from "./pair-option";
import { requireReason } from "./require-reason";
import { requireVerb } from "./require-verb";
import { exit, UsageError, type ExitCode } from "./usage";
import { wholeNumber } from "./whole-number";
import { writeLine } from "./write-line";

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...serverOptions,
      all: { type: "boolean", default: false },
      chart: { type: "string" },
      status: { type: "string" },
      state: { type: "string" },
      prefix: { type: "string" },
      "business-key": { type: "string" },
      parent: { type: "string" },
      condition: { type: "string" },
      label: { type: "string", multiple: true, default: [] },
      index: { type: "string", multiple: true, default: [] },
      reason: { type: "string" },
      name: { type: "string" },
      rate: { type: "string" },
      version: { type: "string" },
      seq: { type: "string" },
      "rearm-timers": { type: "boolean", default: false },
      "later-events": { type: "boolean", default: false },
      map: { type: "string", multiple: true, default: [] },
      yes: { type: "boolean", default: false },
      wait: { type: "boolean", default: false },
      outcome: { type: "string" },
    },
  });
type Values = ReturnType<typeof parse>["values"];

/** Fields that the command calls otherwise. */
const names = {
  "path.batchId": "ID",
  "selection.instanceIds": "ID",
  "query.status": "--outcome",
  verb: "VERB",
  chartId: "--chart",
  idPrefix: "--prefix",
  mapping: "--map",
  ratePerSecond: "--rate",
};

export async function batch(args: string[]): Promise<ExitCode> {
  const { values, positionals } = parse(args);
  return askServer(values.url, names, async (client) => {
    const [verb = "list", ...ids] = positionals;
    const known = batchVerb.safeParse(verb);
    if (known.success) return await make(client, known.data, ids, values);
    requireVerb("batch", verb, [...batchVerb.options, "list", "show", "items", "stop", "go-on"]);
    if (verb === "list") return await list(client, values);
    const [batchId, ...more] = ids;
    if (batchId === undefined || more.length > 0) throw new UsageError(`batch ${verb} needs one batch's id.`);
    return await look(client, verb, batchId, values);
  });
}

async function make(client: Client, verb: BatchVerb, ids: string[], values: Values): Promise<ExitCode> {
  const { name } = values;
  const reason = requireReason(`batch ${verb}`, values.reason);
  const selection = selectionOf(ids, values);
  const call: ArgsOf<"createBatch"> = {
    verb,
    selection,
    reason,
    ...(name === undefined ? {} : { name }),
    ...(values.rate === undefined ? {} : { ratePerSecond: wholeNumber("--rate", values.rate) }),
    ...(values.version === undefined ? {} : { version: wholeNumber("--version", values.version) }),
    ...(values.seq === undefined ? {} : { seq: wholeNumber("--seq", values.seq) }),
    ...(values["rearm-timers"] ? { rearmTimers: true } : {}),
    ...(values["later-events"] ? { laterEvents: true } : {}),
    ...(values.map.length === 0 ? {} : { mapping: readPairs("--map", "OLD=NEW", values.map) }),
  };
  if (!values.yes) {
    const counted = await client.countBatch(call);
    await writeLine(values.json ? JSON.stringify(counted) : countedWords(call, counted));
    return exit.ok;
  }
  const made = await client.createBatch(call, { idempotencyKey: crypto.randomUUID() });
  if (!values.wait) {
    await writeLine(values.json ? JSON.stringify(made) : made.id);
    return exit.ok;
  }
  const over = await waitFor(client, made.id);
  await writeLine(values.json ? JSON.stringify(over) : lineOf(over));
  return over.refused === 0 && over.status === "done" ? exit.ok : exit.chart;
}

/** What it would do, in the words of its options. */
function countedWords(
  { verb, version, seq, ratePerSecond }: ArgsOf<"createBatch">,
  counted: BatchCount,
): string {
  const { count, capped, byStatus } = counted;
  const place = seq === undefined ? "" : ` ${verb === "fork" ? "from" : "to"} #${seq}`;
  const deed = `${verb}${version === undefined ? "" : ` to version ${version}`}${place}`;
  const many = `${count}${capped ? "+" : ""} ${count === 1 && !capped ? "instance" : "instances"}`;
  const each = byStatus.map((group) => `${group.count} ${group.status}`).join(", ");
  const rate = ratePerSecond === undefined ? "" : `, at most ${ratePerSecond} a second`;
  return `${deed} is about ${many}${each === "" ? "" : ` (${each})`}${rate}. Nothing was done: say --yes to do it.`;
}

const lookMs = 500;

async function waitFor(client: Client, batchId: string): Promise<BatchView> {
  for (;;) {
    const seen = await client.getBatch({ batchId });
    if (seen.status === "done" || seen.status === "cancelled") return seen;
    await new Promise((done) => setTimeout(done, lookMs));
  }
}

function selectionOf(ids: string[], values: Values): BatchSelection {
  const index = searchFields(values.index, values.chart);
  const label = searchLabels(values.label);
  const filter = {
    ...(values.chart === undefined ? {} : { chartId: values.chart }),
    // The server says which there are.
    ...(values.status === undefined ? {} : { status: values.status as InstanceStatus }),
    ...(values.state === undefined ? {} : { state: values.state }),
    ...(values.prefix === undefined ? {} : { idPrefix: values.prefix }),
    ...(values["business-key"] === undefined ? {} : { businessKey: values["business-key"] }),
    ...(values.parent === undefined ? {} : { parent: values.parent }),
    ...(values.condition === undefined ? {} : { condition: values.condition as ConditionName }),
    ...(label === undefined ? {} : { label }),
    ...(index === undefined ? {} : { index }),
  };
  const filtered = Object.keys(filter).length > 0;
  if ([ids.length > 0, filtered, values.all].filter(Boolean).length !== 1) {
    throw new UsageError("Say which instances: by their ids, by filters (--chart, --status, …), or --all.");
  }
  return ids.length > 0 ? { instanceIds: ids } : { filter };
}

async function list(client: Client, { json }: Values): Promise<ExitCode> {
  for (const item of (await client.listBatches({ limit: 200 })).items) {
    await writeLine(json ? JSON.stringify(item) : lineOf(item));
  }
  return exit.ok;
}

const lineOf = ({ id, status, total, ok, refused, skipped, name }: BatchView): string =>
  [id, status, `${ok} ok, ${refused} refused, ${skipped} skipped of ${total}`, name].join("\t");

async function look(client: Client, verb: string, batchId: string, values: Values): Promise<ExitCode> {
  const say = (answer: BatchView) => writeLine(values.json ? JSON.stringify(answer) : lineOf(answer));
  switch (verb) {
    case "show":
      await writeLine(JSON.stringify(await client.getBatch({ batchId }), null, values.json ? 0 : 2));
      return exit.ok;
    case "items":
      await items(client, batchId, values);
      return exit.ok;
    case "stop":
      await say(await client.cancelBatch({ batchId }));
      return exit.ok;
    default:
      assert(verb === "go-on", "every verb that is known is done");
      await say(await client.resumeBatch({ batchId }));
      return exit.ok;
  }
}

async function items(client: Client, batchId: string, { outcome, json }: Values): Promise<void> {
  const filter = outcome === undefined ? {} : { status: outcome as "refused" };
  for await (const item of itemsOf((place) => client.listBatchItems({ batchId, ...filter, ...place }))) {
    const { instanceId, status, error } = item;
    await writeLine(json ? JSON.stringify(item) : [instanceId, status, error?.message ?? ""].join("\t"));
  }
}
