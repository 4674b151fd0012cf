/**
 * An order: paid within half an hour or expired, then shipped.
 */
import type { Chart } from "@/lib/statechart/document";

export const order: Chart = {
  lockstep: 1,
  description: "An order is paid within 30 minutes or expires; then it is packed and shipped.",
  context: { total: 0, paid: 0, tracking: null },
  initial: "Awaiting payment",
  states: {
    "Awaiting payment": {
      entry: { assign: { total: "input.total" } },
      on: {
        pay: [
          {
            target: "Paid",
            guard: "event.amount >= context.total - context.paid",
            actions: { assign: { paid: "context.paid + event.amount" } },
          },
          { actions: { assign: { paid: "context.paid + event.amount" } } },
        ],
        cancel: "Cancelled",
      },
      after: { "30m": "Expired" },
    },
    Paid: {
      on: {
        ship: { target: "Shipped", actions: { assign: { tracking: "event.tracking" } } },
        cancel: { target: "Refunding" },
      },
    },
    Refunding: { on: { refunded: "Cancelled" } },
    Shipped: { on: { delivered: "Delivered", returned: "Refunding" } },
    Delivered: { type: "final", output: { state: "'delivered'", tracking: "context.tracking" } },
    Cancelled: { type: "final", output: { state: "'cancelled'" } },
    Expired: { type: "final", output: { state: "'expired'" } },
  },
};
