import { expect, test } from "vitest";
import { Play } from "@/lib/testing/play-chart";
import { activeStates, activeTags } from "./active-states";
import { eventsOf } from "./enabled-events";
import { stateValue } from "./state-value";

const play = new Play({
  id: "player",
  tags: ["all"],
  initial: "off",
  on: { "*": { actions: { log: "1" } } },
  schemas: { events: { eject: {} } },
  states: {
    off: { tags: ["quiet"], on: { power: "on", never: {} } },
    on: {
      type: "parallel",
      tags: ["loud", "all"],
      on: { power: "off" },
      states: {
        sound: { initial: "low", states: { low: { on: { "volume.*": "high" } }, high: {} } },
        picture: {},
      },
    },
  },
});

test("state values are XState's: a leaf by its key, regions as a map, a leaf region as {}", () => {
  expect(play.value).toBe("off");
  play.send("power");
  expect(play.value).toEqual({ on: { sound: "low", picture: {} } });
  expect(stateValue(new Play({}).machine, [""])).toEqual({});
});

test("active states are the leaves and their ancestors in document order, tags each once", () => {
  const { machine, last } = play;
  expect(last.snapshot.configuration).toEqual(["on.sound.low", "on.picture"]);
  expect(activeStates(machine, last.snapshot.configuration)).toEqual([
    "player",
    "on",
    "on.sound",
    "on.sound.low",
    "on.picture",
  ]);
  expect(activeTags(machine, last.snapshot.configuration)).toEqual(["all", "loud"]);
  expect(activeStates(machine, ["of another version"])).toEqual([]);
});

test("events: those that active states handle, and all that the chart names; forbidden ones are not offered", () => {
  expect(eventsOf(play.machine, play.last.snapshot)).toEqual({
    active: ["*", "power", "volume.*"],
    all: ["*", "eject", "never", "power", "volume.*"],
  });
  expect(eventsOf(play.machine, { configuration: ["off"] }).active).toEqual(["*", "power"]);
});
