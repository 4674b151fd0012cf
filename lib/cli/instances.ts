/**
 * `lockstep instances`: a server's instances, listed, read, started, sent to and controlled.
 *
 * Holds: each write carries an idempotency key, the caller's or its own, but a letter's retry, which is done once by itself;
 *        what the server refuses is said in its words, exit 1.
 */
import type { Client } from "@/lib/client/client";
import type { ConditionName, InstanceStatus } from "@/lib/contract/instances";
import { askServer, itemsOf } from "./ask-server";
import { controlInstance } from "./control-instance";
import {
  fencesOf,
  jsonOf,
  numberOf,
  readInstanceCall,
  type InstanceCall,
  type InstanceVerb,
  type Values,
} from "./instance-options";
import { readPairs, searchFields, searchLabels } from "./pair-option";
import { messageVerbs, reads } from "./read-instance";
import { repeatable } from "./repeatable";
import { sentWords } from "./sent-words";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeLine } from "./write-line";

/** Fields that the command calls otherwise. */
const names = {
  "path.instanceId": "ID",
  "path.messageId": "MESSAGE",
  "body.chartId": "CHART",
  type: "EVENT",
  chartId: "--chart",
  idPrefix: "--prefix",
  labels: "--label",
  mapping: "--map",
};

export async function instances(args: string[]): Promise<ExitCode> {
  const call = readInstanceCall(args);
  return askServer(call.values.url, names, (client) => act(client, call));
}

async function act(client: Client, { verb, words, values }: InstanceCall): Promise<ExitCode> {
  const [subject, event, ...more] = words;
  if (verb === "list") {
    if (subject !== undefined) throw new UsageError("instances list takes no id; show ID does.");
    await list(client, values);
    return exit.ok;
  }
  if (verb === "send" || isOfMessage(verb)) {
    const second = verb === "send" ? "an event's type" : "a message's id";
    if (subject === undefined || event === undefined || more.length > 0) {
      const data = verb === "send" ? "; what it carries is --data JSON" : "";
      throw new UsageError(`instances ${verb} needs an instance's id and ${second}, no more${data}.`);
    }
    if (verb === "send") await send(client, subject, event, values);
    else await messageVerbs[verb](client, subject, event, values);
    return exit.ok;
  }
  if (subject === undefined) {
    throw new UsageError(`instances ${verb} needs ${verb === "start" ? "a chart's" : "an"} id.`);
  }
  if (event !== undefined) throw new UsageError(`instances ${verb} takes one id.`);
  if (verb === "start") await start(client, subject, values);
  else if (isRead(verb)) await reads[verb](client, subject, values);
  else return controlInstance(client, verb, subject, values);
  return exit.ok;
}

const isRead = (verb: InstanceVerb): verb is keyof typeof reads => Object.hasOwn(reads, verb);
const isOfMessage = (verb: InstanceVerb): verb is keyof typeof messageVerbs =>
  Object.hasOwn(messageVerbs, verb);

async function list(client: Client, values: Values): Promise<void> {
  const { chart, status, state, prefix, parent, json } = values;
  const filter = {
    chartId: chart,
    // The server says which statuses there are.
    status: status as InstanceStatus | undefined,
    state,
    idPrefix: prefix,
    businessKey: values["business-key"],
    parent,
    condition: values.condition as ConditionName | undefined,
    label: searchLabels(values.label),
    index: searchFields(values.index, chart),
  };
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
    fences: fencesOf(values),
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
    fences: fencesOf(values),
    waitMs: numberOf(values, "wait-ms", 0),
  };
  const sent = await repeatable(values["idempotency-key"], (key) => client.sendEvent(call, key));
  await writeLine(values.json ? JSON.stringify(sent) : sentWords(type, sent));
}
