/**
 * `lockstep schedules`: a server's schedules, written and controlled.
 *
 * Holds: `update` changes what is named and leaves the rest, on the revision that it read. What the server refuses is said
 *        in its words, exit 1.
 */
import { parseArgs } from "node:util";
import { assert } from "@/lib/base/assert";
import type { ArgsOf, Client } from "@/lib/client/client";
import type { Misfire, ScheduleView, TickView } from "@/lib/contract/schedules";
import { askServer, itemsOf, serverOptions } from "./ask-server";
import { readJson } from "./json-option";
import { readPairs } from "./pair-option";
import { requireVerb } from "./require-verb";
import { UsageError, type ExitCode } from "./usage";
import { optionalWholeNumber } from "./whole-number";
import { writeLine } from "./write-line";

type Rule = Omit<ArgsOf<"createSchedule">, "id">;

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...serverOptions,
      status: { type: "string" },
      cron: { type: "string" },
      zone: { type: "string" },
      chart: { type: "string" },
      version: { type: "string" },
      input: { type: "string" },
      "business-key": { type: "string" },
      label: { type: "string", multiple: true },
      priority: { type: "string" },
      send: { type: "string" },
      to: { type: "string" },
      "to-key": { type: "string" },
      data: { type: "string" },
      misfire: { type: "string" },
      "misfire-max": { type: "string" },
      paused: { type: "boolean", default: false },
    },
  });
type Values = ReturnType<typeof parse>["values"];

const verbs = ["list", "show", "create", "update", "pause", "resume", "run", "ticks", "delete"];

/** Fields that the command calls otherwise. */
const names = {
  scheduleId: "ID",
  id: "ID",
  chartId: "--chart",
  timeZone: "--zone",
  labels: "--label",
  type: "--send",
  "to.instanceId": "--to",
  "to.businessKey": "--to-key",
};

export async function schedules(args: string[]): Promise<ExitCode> {
  const { values, positionals } = parse(args);
  return askServer(values.url, names, async (client) => {
    const [verb = "list", scheduleId, ...more] = positionals;
    requireVerb("schedules", verb, verbs);
    if (more.length > 0) throw new UsageError("schedules takes one verb and one id.");
    if (verb === "list" && scheduleId === undefined) await list(client, values);
    else if (scheduleId === undefined) throw new UsageError(`schedules ${verb} needs an id.`);
    else await act(client, verb, scheduleId, values);
    return undefined;
  });
}

async function list(client: Client, { chart, status, json }: Values): Promise<void> {
  const filter = {
    ...(chart === undefined ? {} : { chartId: chart }),
    // The server says which there are.
    ...(status === undefined ? {} : { status: status as "active" | "paused" }),
  };
  for await (const item of itemsOf((place) =>
    client.listSchedules({
      ...filter,
      ...place,
    }),
  ))
    await writeLine(json ? JSON.stringify(item) : lineOf(item));
}

const lineOf = ({ id, cron, timeZone, action, lastTicks, ...schedule }: ScheduleView): string =>
  [
    id,
    nextOf(schedule),
    `${cron} ${timeZone}`,
    action.kind === "start"
      ? `start ${action.chartId} ${action.version === null ? "newest" : `v${action.version}`}`
      : `send ${action.type} to ${"instanceId" in action.to ? action.to.instanceId : action.to.businessKey}`,
    lastTicks[0]?.outcome ?? "-",
  ].join("\t");

const nextOf = ({ paused, nextAt }: Pick<ScheduleView, "paused" | "nextAt">): string =>
  paused ? "paused" : nextAt === null ? "over" : new Date(nextAt).toISOString();

async function act(client: Client, verb: string, scheduleId: string, values: Values): Promise<void> {
  const say = (answer: object, text: string) => writeLine(values.json ? JSON.stringify(answer) : text);
  const sayNext = (answer: ScheduleView) => say(answer, `${answer.id} ${nextOf(answer)}`);
  switch (verb) {
    case "show": {
      const shown = await client.getSchedule({ scheduleId });
      return writeLine(JSON.stringify(shown, null, values.json ? 0 : 2));
    }
    case "create":
      return sayNext(await client.createSchedule({ id: scheduleId, ...ruleOf(values, null) }));
    case "update": {
      const present = await client.getSchedule({ scheduleId });
      const rule = ruleOf(values, present);
      return sayNext(await client.updateSchedule({ scheduleId, baseRevision: present.revision, ...rule }));
    }
    case "pause":
      return sayNext(await client.pauseSchedule({ scheduleId }));
    case "resume":
      return sayNext(await client.resumeSchedule({ scheduleId }));
    case "run": {
      const ran = await client.runSchedule({ scheduleId }, { idempotencyKey: crypto.randomUUID() });
      return say(ran, tickLine(ran.tick));
    }
    case "ticks":
      for (const tick of (await client.listTicks({ scheduleId, limit: 200 })).items) {
        await say(tick, tickLine(tick));
      }
      return;
    default:
      assert(verb === "delete", "every verb that is known is done");
      return say(await client.deleteSchedule({ scheduleId }), `${scheduleId} is deleted`);
  }
}

const tickLine = ({ dueAt, outcome, missed, instanceId, error }: TickView): string =>
  [
    new Date(dueAt).toISOString(),
    outcome + (missed === 0 ? "" : ` (and ${missed} more)`),
    error?.message ?? instanceId ?? "",
  ].join("\t");

/** What the options say, on top of what is there. */
function ruleOf(values: Values, present: ScheduleView | null): Rule {
  const cron = values.cron ?? present?.cron;
  if (cron === undefined) throw new UsageError(`schedules create needs --cron, e.g. --cron "30 2 * * *".`);
  const misfireMax = optionalWholeNumber("--misfire-max", values["misfire-max"]) ?? present?.misfireMax;
  return {
    cron,
    timeZone: values.zone ?? present?.timeZone ?? "UTC",
    action: actionOf(values, present?.action ?? null),
    // The server says which there are.
    misfire: (values.misfire as Misfire | undefined) ?? present?.misfire ?? "once",
    ...(misfireMax === undefined ? {} : { misfireMax }),
    paused: values.paused || (present?.paused ?? false),
  };
}

function actionOf(values: Values, present: ScheduleView["action"] | null): Rule["action"] {
  const sends = values.send !== undefined || (values.chart === undefined && present?.kind === "send");
  if (sends) {
    const before = present?.kind === "send" ? present : null;
    const type = values.send ?? before?.type ?? "";
    const data = values.data === undefined ? before?.data : readJson("--data", values.data);
    const to =
      values.to !== undefined
        ? { instanceId: values.to }
        : values["to-key"] !== undefined
          ? { businessKey: values["to-key"] }
          : before?.to;
    if (to === undefined) throw new UsageError("--send needs --to INSTANCE or --to-key KEY.");
    return { kind: "send", to, type, ...(data === undefined ? {} : { data }) };
  }
  const before = present?.kind === "start" ? present : null;
  const chartId = values.chart ?? before?.chartId;
  if (chartId === undefined) throw new UsageError("Say what it does: --chart ID, or --send EVENT.");
  const version = optionalWholeNumber("--version", values.version) ?? before?.version;
  const input = values.input === undefined ? before?.input : readJson("--input", values.input);
  const businessKey = values["business-key"] ?? before?.businessKey;
  const priority = optionalWholeNumber("--priority", values.priority, 0) ?? before?.priority;
  return {
    kind: "start",
    chartId,
    ...(version === undefined || version === null ? {} : { version }),
    ...(input === undefined ? {} : { input }),
    ...(businessKey === undefined || businessKey === null ? {} : { businessKey }),
    labels: values.label ? readPairs("--label", "KEY=VALUE", values.label) : (before?.labels ?? {}),
    ...(priority === undefined ? {} : { priority }),
  };
}
