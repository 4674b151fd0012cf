/**
 * Public charts by their authors, which are not ours to copy into the repository: imported and played where they lie beside it.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { diagnose } from "@/lib/statechart/diagnose";
import { eventsOf } from "@/lib/statechart/enabled-events";
import { hasErrors } from "@/lib/statechart/diagnostic";
import type { Chart } from "@/lib/statechart/document";
import { readMachine } from "@/lib/statechart/read-machine";
import { Play } from "@/lib/testing/play-chart";
import { Random } from "@/lib/testing/random-chart";
import { exportChart, type ExportFormat } from "./export-chart";
import { importChart } from "./import-chart";

const folder = join(import.meta.dirname, "../../../shared/charts");
const files = existsSync(folder) ? readdirSync(folder).filter((name) => /\.(?:scxml|json)$/.test(name)) : [];
const formats: readonly ExportFormat[] = ["lockstep", "mermaid", "module", "scxml", "xstate"];

describe.skipIf(files.length === 0)("public charts (needs ../shared/charts)", () => {
  test.each(files)(
    "%s imports, its losses named; plays 50 random events and answers; goes out in every format",
    (name) => {
      const text = readFileSync(join(folder, name), "utf8");
      const { chart, diagnostics, losses, placeholders } = importChart(text, { fileName: name });
      expect(diagnostics).toEqual([]);
      expect(chart && readMachine(chart).problems).toEqual([]);
      for (const { message } of losses) expect(message).not.toBe("");
      const said = diagnose(chart as Chart);
      let play = new Play(withTasks(chart as Chart));
      const ends: string[] = [];
      const random = new Random(7);
      let sent = 0;
      while (sent < 50) {
        if (play.status !== "running") {
          ends.push(play.status);
          play = new Play(withTasks(chart as Chart));
        }
        const { active, all } = eventsOf(play.machine, play.last.snapshot);
        const descriptors = active.length > 0 && random.chance(0.9) ? active : all;
        const [waiting] = Object.entries(play.last.snapshot.invocations);
        if (waiting !== undefined && (descriptors.length === 0 || random.chance(0.3))) {
          const [id, { generation }] = waiting;
          const isError = random.chance(0.3);
          const answer = isError
            ? { error: { code: "broken", message: "It broke." } }
            : { output: { value: 1 } };
          play.step({ kind: "answer", id, generation, ...answer });
          sent++;
          continue;
        }
        if (descriptors.length === 0) break;
        play.send({
          type: random.pick(descriptors).replace(/\.?\*$/, "") || "any",
          data: { value: random.below(9) },
        });
        play.advance(random.below(2_000));
        sent++;
      }
      // A step may fail by the author's fault, never by ours: that would have thrown.
      expect(["running", "completed", "failed"]).toContain(play.status);
      for (const format of formats) {
        const out = exportChart(chart as Chart, format);
        expect(out.text.length).toBeGreaterThan(20);
        if (hasErrors(said)) continue;
        expect(
          hasErrors(importChart(out.text, format === "module" ? { fileName: "m.ts" } : {}).diagnostics),
          format,
        ).toBe(false);
      }
      process.stdout.write(
        `${name}: ${losses.length} lost, ${placeholders} placeholders, ${sent} inputs, ${ends.length} runs ended (${[...new Set(ends)].join(", ")})\n`,
      );
    },
  );
});

/** Invocations that only have a name, given to tasks of that name: else they would wait for ever. */
function withTasks(chart: Chart): Chart {
  const revive = (key: string, value: unknown): unknown => {
    const name = (value as { placeholder?: unknown } | null)?.placeholder;
    return key === "src" && typeof name === "string" ? name : value;
  };
  return JSON.parse(JSON.stringify(chart), revive) as Chart;
}
