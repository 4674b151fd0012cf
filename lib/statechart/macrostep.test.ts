import { expect, test } from "vitest";
import { compile } from "./compile";
import type { Chart } from "./document";
import { macrostep } from "./macrostep";
import { start } from "./start";
import { stateValue } from "./state-value";

const microwave: Chart = {
  lockstep: 1,
  type: "parallel",
  context: { timer: 0, cookTime: 3 },
  states: {
    engine: {
      initial: "off",
      states: {
        off: { on: { "turn.on": "on" } },
        on: {
          initial: "idle",
          on: { "turn.off": "off" },
          always: { guard: "context.timer >= context.cookTime", target: "off" },
          states: {
            idle: { always: { guard: { in: "door.closed" }, target: "cooking" } },
            cooking: {
              always: { guard: "In('door.open')", target: "idle" },
              on: { time: { actions: { assign: { timer: "context.timer + 1" } } } },
            },
          },
        },
      },
    },
    door: {
      initial: "closed",
      states: { closed: { on: { "door.open": "open" } }, open: { on: { "door.close": "closed" } } },
    },
  },
};

test("a microwave cooks, pauses while the door is open, and stops when the time is up", () => {
  const machine = compile(microwave);
  let { snapshot } = start(machine, { id: "m1" }, { at: 0, seq: 1 });
  const seen = [stateValue(machine, snapshot.configuration)];
  let seq = 1;
  for (const type of ["turn.on", "time", "door.open", "time", "door.close", "time", "time"]) {
    const result = macrostep(machine, snapshot, { kind: "event", type }, { at: 0, seq: ++seq, trace: true });
    snapshot = result.snapshot;
    seen.push(stateValue(machine, snapshot.configuration));
  }
  expect(seen).toEqual([
    { engine: "off", door: "closed" },
    { engine: { on: "cooking" }, door: "closed" },
    { engine: { on: "cooking" }, door: "closed" },
    { engine: { on: "idle" }, door: "open" },
    { engine: { on: "idle" }, door: "open" },
    { engine: { on: "cooking" }, door: "closed" },
    { engine: { on: "cooking" }, door: "closed" },
    { engine: "off", door: "closed" },
  ]);
  expect(snapshot.context).toEqual({ timer: 3, cookTime: 3 });
});
