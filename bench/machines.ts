/**
 * The machines that are measured, each as our chart and as XState 5 builds it with its own functions, and the events that
 * drive them round and round.
 */
import { assign, createMachine, type AnyStateMachine } from "xstate";
import type { Chart, StateNode } from "@/lib/statechart/document";

export interface Contest {
  name: "toy" | "guarded" | "parallel";
  chart: Chart;
  xstate: AnyStateMachine;
  events: readonly { type: string; amount?: number }[];
}

const toy = { initial: "off", states: { off: { on: { toggle: "on" } }, on: { on: { toggle: "off" } } } };

/** An order: eleven states, four levels; guards and assignments on most transitions. */
function guarded(): Contest {
  type Context = { total: number; tries: number; paid: number };
  const context: Context = { total: 0, tries: 0, paid: 0 };
  const shape = <T>(
    guards: Record<"full" | "mayAdd" | "covers" | "mayRetry", T>,
    actions: Record<string, T>,
  ) => ({
    initial: "open",
    states: {
      open: {
        initial: "cart",
        on: { cancel: { target: "closed.cancelled", actions: actions.reset } },
        states: {
          cart: {
            on: {
              add: [
                { guard: guards.full, target: "review" },
                { guard: guards.mayAdd, actions: actions.add },
              ],
            },
          },
          review: { on: { back: "cart", pay: "payment" } },
          payment: {
            initial: "asking",
            states: {
              asking: {
                on: {
                  answer: [
                    { guard: guards.covers, target: "taken", actions: actions.take },
                    { guard: guards.mayRetry, target: "refused", actions: actions.retry },
                  ],
                },
              },
              refused: { on: { again: "asking" } },
              taken: { on: { ship: { target: "#order.closed.done", actions: actions.reset } } },
            },
          },
        },
      },
      closed: {
        initial: "done",
        on: { reopen: "open" },
        states: { done: {}, cancelled: {} },
      },
    },
  });
  const chart = shape<unknown>(
    {
      full: "context.total >= 20",
      mayAdd: "event.amount > 0 && context.total < 1000",
      covers: "event.amount >= context.total",
      mayRetry: "context.tries < 3",
    },
    {
      add: { assign: { total: "context.total + event.amount" } },
      take: { assign: { paid: "event.amount", tries: 0 } },
      retry: { assign: { tries: "context.tries + 1" } },
      reset: { assign: { total: 0, tries: 0, paid: 0 } },
    },
  );
  type Args = { context: Context; event: { type: string; amount?: number } };
  const amount = ({ event }: Args): number => event.amount ?? 0;
  const xstate = shape<unknown>(
    {
      full: ({ context }: Args) => context.total >= 20,
      mayAdd: (args: Args) => amount(args) > 0 && args.context.total < 1000,
      covers: (args: Args) => amount(args) >= args.context.total,
      mayRetry: ({ context }: Args) => context.tries < 3,
    },
    {
      add: assign({ total: (args: Args) => args.context.total + amount(args) }),
      take: assign({ paid: amount, tries: 0 }),
      retry: assign({ tries: ({ context }: Args) => context.tries + 1 }),
      reset: assign({ total: 0, tries: 0, paid: 0 }),
    },
  );
  return {
    name: "guarded",
    chart: { lockstep: 1, id: "order", context: { ...context }, ...(chart as StateNode) },
    xstate: createMachine({ id: "order", context, ...(xstate as object) }),
    events: [
      { type: "add", amount: 12 },
      { type: "add", amount: 12 },
      { type: "add", amount: 1 },
      { type: "pay" },
      { type: "answer", amount: 3 },
      { type: "again" },
      { type: "answer", amount: 30 },
      { type: "unknown" },
      { type: "ship" },
      { type: "reopen" },
      { type: "add", amount: 5 },
      { type: "cancel" },
      { type: "reopen" },
    ],
  };
}

/** Three regions that all answer, below a state that is left and entered again by deep history. */
function parallel(): Contest {
  const region = {
    initial: "idle",
    states: {
      idle: { on: { tick: "busy" } },
      busy: {
        initial: "first",
        states: { first: { on: { tick: "second" } }, second: {} },
        on: { done: "idle" },
      },
    },
  };
  const shape = {
    initial: "work",
    states: {
      work: {
        type: "parallel" as const,
        on: { pause: "paused" },
        states: {
          left: region,
          middle: region,
          right: region,
          last: { type: "history" as const, history: "deep" as const },
        },
      },
      paused: { on: { resume: "work.last" } },
    },
  };
  return {
    name: "parallel",
    chart: { lockstep: 1, settings: { selection: "xstate" }, ...shape },
    xstate: createMachine(shape),
    events: ["tick", "pause", "resume", "tick", "pause", "resume", "done"].map((type) => ({ type })),
  };
}

export const contests = (): Contest[] => [
  { name: "toy", chart: { lockstep: 1, ...toy }, xstate: createMachine(toy), events: [{ type: "toggle" }] },
  guarded(),
  parallel(),
];
