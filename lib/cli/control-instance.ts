/**
 * The verbs of `lockstep instances` that stop, move or remove one: all but `delete` give a reason.
 */
import { assert } from "@/lib/base/assert";
import type { Client } from "@/lib/client/client";
import type { MigrateResult } from "@/lib/contract/instances";
import { fencesOf, numberOf, type InstanceVerb, type Values } from "./instance-options";
import { readPairs } from "./pair-option";
import { repeatable } from "./repeatable";
import { requireReason } from "./require-reason";
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
const isControl = (verb: string): verb is keyof typeof controls => Object.hasOwn(controls, verb);

export async function controlInstance(
  client: Client,
  verb: InstanceVerb,
  instanceId: string,
  values: Values,
): Promise<ExitCode> {
  const say = (answer: object, text: string) => writeLine(values.json ? JSON.stringify(answer) : text);
  const expectedSeq = numberOf(values, "expected-seq", 0);
  const fences = fencesOf(values);
  if (verb === "delete") {
    const call = { instanceId, expectedSeq, fences, reason: values.reason };
    const deleted = await repeatable(values["idempotency-key"], (key) => client.deleteInstance(call, key));
    await say(
      deleted,
      `${instanceId} ${deleted.replayed ? "was deleted before" : "is deleted"}, #${deleted.seq}`,
    );
    return exit.ok;
  }
  const reason = requireReason(`instances ${verb}`, values.reason);
  const control = { instanceId, reason, expectedSeq, fences };
  if (isControl(verb)) {
    const result = await repeatable(values["idempotency-key"], (key) => client[controls[verb]](control, key));
    const { changed, status, seq } = result;
    await say(result, `${instanceId} ${changed ? "is" : "was already"} ${status}, #${seq}`);
    return exit.ok;
  }
  switch (verb) {
    case "reset": {
      const to = numberOf(values, "seq");
      if (to === undefined) throw new UsageError("instances reset needs --seq: where it goes back to.");
      const call = { ...control, seq: to, rearmTimers: values["rearm-timers"] };
      const result = await repeatable(values["idempotency-key"], (key) => client.resetInstance(call, key));
      const { status, configuration, seq } = result;
      await say(result, `${instanceId} is as it was at #${to}: ${stateOf(status, configuration)}, #${seq}`);
      return exit.ok;
    }
    case "fork": {
      const call = {
        instanceId,
        reason,
        fences,
        seq: numberOf(values, "seq"),
        id: values.id,
        rearmTimers: values["rearm-timers"],
        laterEvents: values["later-events"],
      };
      const forked = await repeatable(values["idempotency-key"], (key) => client.forkInstance(call, key));
      await say(forked, forked.id);
      return exit.ok;
    }
    default: {
      assert(verb === "migrate", "every verb that is known is done");
      const call = {
        ...control,
        version: wholeNumber("--version", values.version),
        mapping: readPairs("--map", "OLD=NEW", values.map),
        dryRun: values["dry-run"],
      };
      const result = await repeatable(values["idempotency-key"], (key) => client.migrateInstance(call, key));
      const { changed, version, seq, plan } = result;
      const moved = changed ? `is of version ${version} now, #${seq}` : plan.verdict;
      await say(result, [`${instanceId} ${moved}`, ...planLines(plan)].join("\n"));
      // As the same call without --dry-run would end: the server would refuse it.
      return plan.verdict === "ok" ? exit.ok : exit.chart;
    }
  }
}

export const stateOf = (status: string, configuration: readonly string[]): string =>
  [status, configuration.join(",")].filter((part) => part !== "").join(" in ");

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
