/**
 * The TypeScript module, built and run by XState 5 beside our engine on the same events.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, describe, expect, test } from "vitest";
import { createActor, type AnyActorRef, type AnyStateMachine } from "xstate";
import { exampleCharts } from "@/lib/seeds/examples";
import type { Json } from "@/lib/base/json";
import type { Chart } from "@/lib/statechart/document";
import { stateValue } from "@/lib/statechart/state-value";
import { Play } from "@/lib/testing/play-chart";
import { Random, randomEvents, randomOptions, randomRoot, toChart } from "@/lib/testing/random-chart";
import { exportChart } from "../export-chart";

const root = join(import.meta.dirname, "../../..");
// Inside the project, where xstate is found.
const folder = mkdtempSync(join(root, "node_modules/.module-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The modules of several charts, bundled with the evaluator from its source, as their build would with `lockstep/cel`. */
async function machines(charts: readonly Chart[]): Promise<AnyStateMachine[]> {
  const paths = charts.map((chart, index) => {
    const path = join(folder, `m${index}-${Math.abs(hash(JSON.stringify(chart)))}.ts`);
    writeFileSync(path, exportChart(chart, "module").text);
    return path;
  });
  const entry = join(folder, `entry-${paths.length}-${Date.now()}.ts`);
  writeFileSync(
    entry,
    paths.map((path, index) => `export { machine as m${index} } from ${JSON.stringify(path)};`).join("\n"),
  );
  const out = entry.replace(/\.ts$/, ".mjs");
  await build({
    entryPoints: [entry],
    outfile: out,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["xstate"],
    alias: { "lockstep/cel": join(root, "lib/formats/xstate/cel-runtime.ts"), "@": root },
    logLevel: "silent",
  });
  const made = (await import(/* @vite-ignore */ pathToFileURL(out).href)) as Record<string, AnyStateMachine>;
  return charts.map((_, index) => made[`m${index}`] as AnyStateMachine);
}

const hash = (text: string): number =>
  [...text].reduce((sum, char) => (Math.imul(sum, 31) + char.charCodeAt(0)) | 0, 7);

interface Shown {
  value: Json;
  context: unknown;
  done: boolean;
}

function startActor(machine: AnyStateMachine, input?: Json): { actor: AnyActorRef; failed: () => boolean } {
  let failed = false;
  const actor = createActor(machine, { ...(input === undefined ? {} : { input }), logger: () => undefined });
  actor.subscribe({ error: () => (failed = true) });
  actor.start();
  return { actor, failed: () => failed };
}

const theirs = (actor: AnyActorRef): Shown => {
  const { value, context, status } = actor.getSnapshot() as { value: Json; context: unknown; status: string };
  return { value, context: JSON.parse(JSON.stringify(context)) as unknown, done: status === "done" };
};
const ours = (play: Play): Shown => ({
  value: stateValue(play.machine, play.last.snapshot.configuration),
  context: play.context,
  done: play.status === "completed",
});

const isFailed = (play: Play): boolean => play.status === "failed";

describe("a chart as a module moves in XState as it does here", () => {
  test("the examples, on random events", async () => {
    const charts = exampleCharts.map(({ chart }): Chart => ({
      ...chart,
      settings: { ...chart.settings, selection: "xstate", errors: "stop" },
    }));
    const made = await machines(charts);
    const inputs: Json[] = charts.map(() => ({ total: 5, id: "v1" }));
    let moved = 0;
    for (let round = 0; round < 60; round++) {
      const random = new Random(round);
      charts.forEach((chart, index) => {
        const play = new Play(chart, { input: inputs[index] ?? null });
        const { actor, failed } = startActor(made[index] as AnyStateMachine, inputs[index]);
        const types = [
          ...new Set(
            JSON.stringify(chart).match(
              /"[A-Z_]{3,}"|"pay"|"ship"|"cancel"|"delivered"|"returned"|"refunded"/g,
            ),
          ),
        ].map((text) => JSON.parse(text) as string);
        for (let step = 0; step < 25 && play.status === "running" && !failed(); step++) {
          const before = JSON.stringify(ours(play).value);
          const type = random.pick(types);
          const data = {
            amount: random.below(6),
            soc: random.below(100),
            mission: "m",
            pallet: "p",
            zone: "z",
            occupied: random.chance(0.5),
            tracking: "t",
          };
          play.send({ type, data });
          actor.send({ type, ...data });
          expect(failed(), `round ${round} step ${step} ${type}`).toBe(isFailed(play));
          if (failed()) return;
          expect(theirs(actor), `round ${round} step ${step} ${type}`).toEqual(ours(play));
          if (JSON.stringify(ours(play).value) !== before) moved++;
        }
        actor.stop();
      });
    }
    expect(moved).toBeGreaterThan(150);
  });

  test("60 random charts, events with data", async () => {
    const seeds = Array.from({ length: 60 }, (_, seed) => seed);
    const roots = seeds.map((seed) => {
      const random = new Random(seed);
      // Regions in the order of the document: XState asks them in the order of entry (lib/testing/random-chart-xstate.ts).
      return randomRoot(random, {
        ...randomOptions(random),
        parallel: false,
        after: false,
        messages: false,
        invokes: false,
      });
    });
    const charts = roots.map((one) => toChart(one, "xstate"));
    const made = await machines(charts);
    let steps = 0;
    charts.forEach((chart, seed) => {
      const random = new Random(1000 + seed);
      const play = new Play(chart);
      const { actor, failed } = startActor(made[seed] as AnyStateMachine);
      for (let step = 0; step < 15 && play.status === "running" && !failed(); step++) {
        expect(theirs(actor), `seed ${seed} step ${step}`).toEqual(ours(play));
        const type = random.pick(randomEvents);
        const n = random.below(5);
        play.send({ type, data: { n } });
        actor.send({ type, n });
        steps++;
      }
      expect(failed(), `seed ${seed}`).toBe(isFailed(play));
      actor.stop();
    });
    expect(steps).toBeGreaterThan(300);
  });
});

test("no text of a chart becomes code, and what XState cannot do is named", async () => {
  const evil = '"); globalThis.broken = true; ("*/ \u2028 ${1} `';
  const chart: Chart = {
    lockstep: 1,
    id: "x*/y",
    initial: "a",
    description: evil,
    context: { [evil]: evil },
    guards: { [evil]: evil, both: { and: [evil, { in: "a" }] } },
    actions: { [evil]: { placeholder: evil } },
    states: {
      a: {
        description: "\0globalThis.broken = true",
        meta: { text: evil },
        entry: [evil, { log: evil, label: evil }, { compensate: true }],
        on: { [evil]: { target: "b", guard: "size(['x'].filter(s, In(s))) > 0" } },
        invoke: { src: evil, id: evil, onDone: "b" },
      },
      b: { id: `b ${evil.replace("#", "")}`, type: "final" },
    },
  };
  const { losses } = exportChart(chart, "module");
  const messages = losses.map(({ message }) => message).join("\n");
  for (const part of ["compensate", "In() can only", "stops at an error"]) expect(messages).toContain(part);
  const [machine] = await machines([chart]);
  expect(machine).toBeDefined();
  expect((globalThis as { broken?: unknown }).broken).toBeUndefined();
});
