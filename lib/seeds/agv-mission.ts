/**
 * One mission of an automated guided vehicle: fetch a pallet, bring it to a zone, while the battery drains beside it.
 */
import type { Chart } from "@/lib/statechart/document";

export const agvMission: Chart = {
  lockstep: 1,
  description: "An automated guided vehicle fetches a pallet and sets it down in a zone.",
  context: {
    soc: 86,
    mission: null,
    pallet: null,
    zone: { id: null, occupied: false, maxKg: 900 },
    waitingSince: null,
    detours: 0,
  },
  guards: {
    charged: "context.soc >= 20",
    zoneFree: "!event.occupied && event.kg <= context.zone.maxKg",
  },
  initial: "Idle",
  states: {
    Idle: {
      tags: ["available"],
      entry: { assign: { mission: null, pallet: null, waitingSince: null } },
      on: {
        ASSIGN: {
          target: "Claiming",
          guard: "charged",
          actions: {
            assign: { mission: "event.mission", pallet: "event.pallet", "zone.id": "event.zone" },
          },
        },
        LEVEL: { actions: { assign: { soc: "event.soc" } } },
      },
    },
    Claiming: {
      on: { RESERVED: "Mission", BUSY: "Rejected" },
      after: { "2m": "Rejected" },
    },
    Rejected: { type: "final", output: { delivered: false } },
    Mission: {
      type: "parallel",
      on: { ABORT: "Unwinding" },
      states: {
        Drive: {
          id: "Drive",
          initial: "En route",
          onDone: { target: "#Delivered", actions: { log: "context.pallet", label: "delivered" } },
          states: {
            "En route": {
              id: "En route",
              initial: "To pick-up",
              on: {
                OBSTACLE: { target: "Blocked", actions: { assign: { detours: "context.detours + 1" } } },
              },
              states: {
                "To pick-up": { id: "To pick-up", on: { ARRIVED: "Lifting" } },
                Lifting: { id: "Lifting", on: { LIFTED: "To drop-off" } },
                "To drop-off": {
                  id: "To drop-off",
                  on: {
                    ARRIVED: [
                      { target: "Lowering", guard: "zoneFree" },
                      { target: "Waiting", actions: { assign: { "zone.occupied": "event.occupied" } } },
                    ],
                  },
                },
                Waiting: {
                  id: "Waiting",
                  entry: { assign: { waitingSince: "event.at" } },
                  exit: { assign: { waitingSince: null } },
                  on: {
                    ZONE_FREE: { target: "Lowering", actions: { assign: { "zone.occupied": false } } },
                  },
                  after: { "15m": "#Needs operator" },
                },
                Lowering: { id: "Lowering", on: { LOWERED: "#Dropped" } },
                "Last leg": { id: "Last leg", type: "history", history: "deep" },
              },
            },
            Blocked: { id: "Blocked", on: { CLEARED: "#Last leg" }, after: { "10m": "#Needs operator" } },
            Dropped: { id: "Dropped", type: "final" },
          },
        },
        Battery: {
          id: "Battery",
          initial: "Normal",
          on: { LEVEL: { actions: { assign: { soc: "event.soc" } } } },
          states: {
            Normal: {
              id: "Normal",
              on: {
                LEVEL: { target: "Low", guard: "event.soc < 20", actions: { assign: { soc: "event.soc" } } },
              },
            },
            Low: {
              id: "Low",
              tags: ["warning"],
              on: {
                LEVEL: [
                  { target: "Critical", guard: "event.soc < 8", actions: { assign: { soc: "event.soc" } } },
                  { target: "Normal", guard: "event.soc >= 35", actions: { assign: { soc: "event.soc" } } },
                ],
              },
            },
            Critical: { id: "Critical", tags: ["warning"], entry: { raise: { type: "ABORT" } } },
          },
        },
      },
    },
    Unwinding: { on: { UNWOUND: "Idle", STUCK: "Needs operator" } },
    "Needs operator": { tags: ["attention"], on: { RETRY: "Unwinding" } },
    Delivered: { type: "final", output: { delivered: true } },
  },
};
