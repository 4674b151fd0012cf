import { expect, test } from "vitest";
import { chartTree } from "@/lib/diagram/chart-tree";
import { eventTypes } from "./event-types";

const tree = chartTree({
  lockstep: 1,
  initial: "idle",
  on: { RESET: ".idle" },
  states: {
    idle: { id: "idle", on: { GO: "busy", "*": "busy", STOP: {} } },
    busy: { id: "busy", on: { STOP: "idle", "done.invoke.x": "idle" } },
  },
});

test("what the active states and those around them handle comes first; wildcards and engine events never", () => {
  expect(eventTypes(tree, ["idle"])).toEqual({ handled: ["RESET", "GO"], others: ["STOP"] });
  expect(eventTypes(tree, ["busy"])).toEqual({ handled: ["RESET", "STOP"], others: ["GO"] });
});
