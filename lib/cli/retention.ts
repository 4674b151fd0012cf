/**
 * `lockstep retention`: how long a server keeps what is over, changed and tried.
 */
import { parseArgs } from "node:util";
import { assert } from "@/lib/base/assert";
import type { Client } from "@/lib/client/client";
import { retentionRule, type RetentionRuleView } from "@/lib/contract/operations";
import { askServer, serverOptions } from "./ask-server";
import { requireVerb } from "./require-verb";
import { spanOf, units } from "./span";
import { UsageError, type ExitCode } from "./usage";
import { writeLine } from "./write-line";

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...serverOptions,
      keep: { type: "string" },
      then: { type: "string" },
      reason: { type: "string" },
    },
  });
type Values = ReturnType<typeof parse>["values"];

/** Fields that the command calls otherwise. */
const names = { keepMs: "--keep", rule: "RULE" };

export async function retention(args: string[]): Promise<ExitCode> {
  const { values, positionals } = parse(args);
  return askServer(values.url, names, async (client) => {
    const [verb = "list", name, ...more] = positionals;
    requireVerb("retention", verb, ["list", "preview", "set"]);
    if (more.length > 0) throw new UsageError("retention takes one verb and one rule.");
    if (verb === "list" && name === undefined) await list(client, values);
    else await act(client, verb, name, values);
    return undefined;
  });
}

async function list(client: Client, { json }: Values): Promise<void> {
  const { items } = await client.listRetention();
  for (const item of items) await writeLine(json ? JSON.stringify(item) : lineOf(item));
}

const lineOf = ({ rule, keepMs, then, removed }: RetentionRuleView): string =>
  [rule, keepMs === null ? "for ever" : spanOf(keepMs), then, `${removed} removed`].join("\t");

async function act(client: Client, verb: string, name: string | undefined, values: Values): Promise<void> {
  const rule = retentionRule.safeParse(name);
  if (!rule.success)
    throw new UsageError(`retention ${verb} needs a rule: ${retentionRule.options.join(", ")}.`);
  const { keep, then, reason, json } = values;
  if (verb === "preview") {
    const keepMs = keep === undefined ? undefined : msOf(keep);
    const found =
      keepMs === null
        ? { rule: rule.data, keepMs, count: 0, complete: true }
        : await client.previewRetention({ rule: rule.data, ...(keepMs === undefined ? {} : { keepMs }) });
    const text = `${found.complete ? "" : "at least "}${found.count} would go`;
    await writeLine(json ? JSON.stringify(found) : text);
  } else {
    assert(verb === "set", "every verb that is known is done");
    if (keep === undefined) throw new UsageError("retention set needs --keep, as 30d or for-ever.");
    if (reason === undefined || reason.trim() === "") {
      throw new UsageError("retention set needs --reason: the audit keeps it.");
    }
    if (then !== undefined && then !== "purge" && then !== "archive") {
      throw new UsageError(`--then takes purge or archive, not ${then}.`);
    }
    const set = await client.setRetention({
      rule: rule.data,
      keepMs: msOf(keep),
      ...(then === undefined ? {} : { then }),
      reason,
    });
    await writeLine(json ? JSON.stringify(set) : lineOf(set));
  }
}

/** null: for ever. */
function msOf(text: string): number | null {
  if (text === "for-ever") return null;
  const found = /^(\d{1,9})([smhd])$/.exec(text);
  if (!found) throw new UsageError(`--keep takes a time as 30d, 12h, 15m or 90s, or for-ever, not ${text}.`);
  return Number(found[1]) * units[found[2] as keyof typeof units];
}
