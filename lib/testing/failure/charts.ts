/** Charts that the failure table's tests run. */
import type { JsonObject } from "@/lib/base/json";

const add = { actions: { assign: { sum: "context.sum + event.n" } } };

/** Adds up what it is told; `halt` and `poison` are events for wounds.ts to meet. */
export const adder: JsonObject = {
  lockstep: 1,
  context: { sum: 0 },
  initial: "on",
  states: {
    on: {
      on: {
        add,
        halt: { actions: { assign: { sum: "context.sum + 1000" } } },
        wait: "waiting",
      },
    },
    waiting: { after: { "300ms": "on" } },
  },
};

/** Sends to itself for ever. */
export const selfSender: JsonObject = {
  ...adder,
  states: {
    on: {
      on: {
        add,
        go: {
          actions: [
            { assign: { sum: "context.sum + 1" } },
            { send: { to: { cel: "'instance:' + _sessionid" }, type: "go" } },
          ],
        },
      },
    },
  },
};
