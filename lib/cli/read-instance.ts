/**
 * The verbs of `lockstep instances` that tell of one instance what has happened and what became of what was sent; and send a dead
 * letter again.
 */
import type { Client } from "@/lib/client/client";
import type { LogEntry } from "@/lib/contract/instances";
import { itemsOf } from "./ask-server";
import { fencesOf, numberOf, type InstanceVerb, type Values } from "./instance-options";
import { sentWords } from "./sent-words";
import { writeLine } from "./write-line";

type Read = (client: Client, instanceId: string, values: Values) => Promise<void>;

/** How many entries a page of the log has. */
const logPage = 200;

export const reads = {
  async show(client, instanceId, { json }) {
    await writeLine(JSON.stringify(await client.getInstance({ instanceId }), null, json ? 0 : 2));
  },
  async state(client, instanceId, values) {
    const state = await client.getState({ instanceId, seq: numberOf(values, "seq", 0) });
    await writeLine(JSON.stringify(state, null, values.json ? 0 : 2));
  },
  async log(client, instanceId, values) {
    const seq = numberOf(values, "seq");
    if (seq !== undefined) {
      const entry = await client.getLogEntry({ instanceId, seq });
      return writeLine(JSON.stringify(entry, null, values.json ? 0 : 2));
    }
    let left = numberOf(values, "limit") ?? Infinity;
    for (let before: number | undefined; left > 0;) {
      const { items } = await client.getLog({ instanceId, before, limit: Math.min(left, logPage) });
      for (const entry of items) await writeLine(values.json ? JSON.stringify(entry) : lineOf(entry));
      left = items.length < logPage ? 0 : left - items.length;
      before = items.at(-1)?.seq;
    }
  },
  async letters(client, instanceId, { json }) {
    const all = itemsOf((place) => client.listDeadLetters({ instanceId, ...place }));
    for await (const letter of all) {
      const { messageId, at, type, reason, retriedAs } = letter;
      const line = [messageId, new Date(at).toISOString(), type, reason, retriedAs ?? "-"];
      await writeLine(json ? JSON.stringify(letter) : line.join("\t"));
    }
  },
} as const satisfies Partial<Record<InstanceVerb, Read>>;

/** Those of one message. */
export const messageVerbs = {
  async message(client, instanceId, messageId, { json }) {
    const found = await client.getMessage({ instanceId, messageId });
    await writeLine(json ? JSON.stringify(found) : sentWords(messageId, found));
  },
  async retry(client, instanceId, messageId, values) {
    const sent = await client.retryDeadLetter({ instanceId, messageId, fences: fencesOf(values) });
    await writeLine(values.json ? JSON.stringify(sent) : sentWords(messageId, sent));
  },
} as const satisfies Partial<
  Record<
    InstanceVerb,
    (client: Client, instanceId: string, messageId: string, values: Values) => Promise<void>
  >
>;

function lineOf({ seq, at, kind, type, outcome, reason, actor, entered }: LogEntry): string {
  const became = [outcome, ...(reason === null ? [] : [`(${reason})`])].join(" ");
  // The root has no name.
  const states = entered.filter((name) => name !== "").join(",");
  return [`#${seq}`, new Date(at).toISOString(), kind, type, became, actor, states].join("\t").trimEnd();
}
