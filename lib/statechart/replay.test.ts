import { expect, test } from "vitest";
import { Random, randomChart, randomEvents } from "@/lib/testing/random-chart";
import { compile } from "./compile";
import { macrostep } from "./macrostep";
import { replay } from "./replay";
import { snapshotHash, type Snapshot } from "./snapshot";
import { start } from "./start";
import type { StepInput, StepResult } from "./step";

interface Played {
  snapshots: Snapshot[];
  entries: { input: StepInput; at: number; seq: number }[];
}

/** A random run, each step also made from a snapshot that went through JSON, and with tracing the other way round. */
function play(seed: number, check: (plain: StepResult, other: StepResult) => void): Played {
  const random = new Random(seed * 7919);
  const machine = compile(randomChart(seed));
  let at = 1_000;
  const first = start(machine, { id: "r", input: { n: 1 } }, { at, seq: 1 });
  const played: Played = { snapshots: [first.snapshot], entries: [] };
  for (let step = 0; step < 20; step++) {
    const snapshot = played.snapshots.at(-1) as Snapshot;
    const timers = Object.keys(snapshot.timers);
    const input: StepInput =
      timers.length > 0 && random.chance(0.3)
        ? { kind: "timer", id: random.pick(timers) }
        : { kind: "event", type: random.pick(randomEvents), data: { n: random.below(6) } };
    at += random.below(1000);
    const entry = { input, at, seq: step + 2 };
    const text = JSON.stringify(snapshot);
    const result = macrostep(machine, snapshot, input, entry);
    expect(JSON.stringify(snapshot), "the snapshot passed in is never changed").toBe(text);
    // A machine compiled anew has empty caches: nothing may depend on what ran before.
    const fresh = step % 5 === 0 ? compile(randomChart(seed)) : machine;
    const other = macrostep(fresh, JSON.parse(text) as Snapshot, input, { ...entry, trace: true });
    check(result, other);
    played.snapshots.push(result.snapshot);
    played.entries.push(entry);
  }
  return played;
}

test("I5: replaying a run's entries gives every state it had, from any snapshot on", () => {
  for (let seed = 1; seed <= 25; seed++) {
    const { snapshots, entries } = play(seed, () => undefined);
    const machine = compile(randomChart(seed));
    const random = new Random(seed);
    for (let round = 0; round < 3; round++) {
      const from = random.below(snapshots.length);
      const to = from + random.below(snapshots.length - from);
      const rebuilt = replay(machine, snapshots[from] as Snapshot, entries.slice(from, to));
      expect(snapshotHash(rebuilt), `seed ${seed}, ${from}..${to}`).toBe(
        snapshotHash(snapshots[to] as Snapshot),
      );
    }
  }
});

test("a snapshot through JSON runs on the same, traced or not", () => {
  for (let seed = 1; seed <= 25; seed++) {
    play(seed, (plain, other) => {
      expect({ ...other, microsteps: [] }, `seed ${seed}`).toEqual(plain);
      expect(snapshotHash(other.snapshot)).toBe(snapshotHash(plain.snapshot));
    });
  }
});

test("a step's effects account for every difference in timers and invocations", () => {
  for (let seed = 1; seed <= 25; seed++) {
    play(seed, (result, other) => {
      const armed = result.effects.flatMap((one) => (one.type === "timer.arm" ? [one.id] : []));
      for (const id of armed) expect(other.snapshot.timers[id], `seed ${seed}: ${id}`).toBeDefined();
    });
  }
});
