/**
 * `lockstep instances`: a server's instances, listed, started, sent to and controlled.
 *
 * Holds: each write but `delete` carries an idempotency key, the caller's or its own; what the server refuses is said in its
 *        words, exit 1.
 */
import type { ArgsOf, Client } from "@/lib/client/client";
import type { InstanceStatus } from "@/lib/contract/instances";
import { askServer, itemsOf } from "./ask-server";
import { controlInstance, stateOf } from "./control-instance";
import { jsonOf, numberOf, readInstanceCall, type InstanceCall, type Values } from "./instance-options";
import { readPairs } from "./pair-option";
import { repeatable } from "./repeatable";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeLine } from "./write-line";

export async function instances(args: string[]): Promise<ExitCode> {
  const call = readInstanceCall(args);
  return askServer(call.values.url, (client) => act(client, call));
}

async function act(client: Client, { verb, words, values }: InstanceCall): Promise<ExitCode> {
  const [subject, event, ...more] = words;
  if (verb === "list") {
    if (subject !== undefined) throw new UsageError("instances list takes no id; show ID does.");
    await list(client, values);
    return exit.ok;
  }
  if (verb === "send") {
    if (subject === undefined || event === undefined || more.length > 0) {
      throw new UsageError(
        "instances send needs an instance's id and an event's type, no more; what it carries is --data JSON.",
      );
    }
    await send(client, subject, event, values);
    return exit.ok;
  }
  if (subject === undefined) {
    throw new UsageError(`instances ${verb} needs ${verb === "start" ? "a chart's" : "an"} id.`);
  }
  if (event !== undefined) throw new UsageError(`instances ${verb} takes one id.`);
  if (verb === "start") await start(client, subject, values);
  else if (verb === "show") {
    const shown = await client.getInstance({ instanceId: subject });
    await writeLine(JSON.stringify(shown, null, values.json ? 0 : 2));
  } else return controlInstance(client, verb, subject, values);
  return exit.ok;
}

async function list(client: Client, { chart, status, json }: Values): Promise<void> {
  // The server says which statuses there are.
  const filter = { chartId: chart, status: status as InstanceStatus | undefined };
  for await (const item of itemsOf((place) => client.listInstances({ ...filter, ...place }))) {
    const { id, status: is, configuration, chartId, version, seq } = item;
    const line = [id, is, configuration.join(","), `${chartId} v${version}`, `#${seq}`].join("\t");
    await writeLine(json ? JSON.stringify(item) : line);
  }
}

async function start(client: Client, chartId: string, values: Values): Promise<void> {
  const call = {
    chartId,
    id: values.id,
    version: numberOf(values, "version"),
    input: jsonOf(values, "input"),
    businessKey: values["business-key"],
    labels: values.label.length === 0 ? undefined : readPairs("--label", "KEY=VALUE", values.label),
    priority: numberOf(values, "priority", 0),
  };
  const started = await repeatable(values["idempotency-key"], (key) => client.startInstance(call, key));
  await writeLine(values.json ? JSON.stringify(started) : started.id);
}

async function send(client: Client, instanceId: string, type: string, values: Values): Promise<void> {
  const call = {
    instanceId,
    type,
    data: jsonOf(values, "data"),
    expectedSeq: numberOf(values, "expected-seq", 0),
    // The server says what a fence is.
    fences: jsonOf(values, "fences") as ArgsOf<"sendEvent">["fences"],
    waitMs: numberOf(values, "wait-ms", 0),
  };
  const sent = await repeatable(values["idempotency-key"], (key) => client.sendEvent(call, key));
  const { state, seq, outcome, reason, status, configuration, pending, replayed } = sent;
  const now = `${instanceId} is ${stateOf(status, configuration)}`;
  const text =
    state === "queued"
      ? `${type} is queued as ${sent.messageId}, ${pending} pending; ${now}`
      : `${type} was applied${replayed ? " before" : ""}, #${seq}: ${outcome}${reason === null ? "" : ` (${reason})`}; ${now}`;
  await writeLine(values.json ? JSON.stringify(sent) : text);
}
