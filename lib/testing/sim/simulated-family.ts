/**
 * Charts that ask for instances, hold locks, and do deeds that can be undone: from `home` one event leads to each.
 *
 *   e0 → kid (a child)   e1 → brood (`each`)   a → zone (locks)   e2 → first → second → third (a saga) → undoing
 *
 * An instance is started with {name, keys}: its child's name begins with its own, its state holds those locks.
 */
import type { Chart, StateNode } from "@/lib/statechart/document";
import { Random } from "../random-chart";

/** Kinds of families, the same in all seeds. */
export const familyKinds = 16;
export const nurseryChart = "simnest";
export const childChart = "simchild";

const answered = (id: string, target: string): Record<string, string> => ({
  [`done.invoke.${id}`]: target,
  [`error.invoke.${id}`]: target,
});

const deed = (id: string, next: string, random: Random): StateNode => ({
  invoke: {
    id,
    src: "work",
    retry: { attempts: 2, delay: "20ms" },
    ...(random.chance(0.3) ? { timeout: "30s" } : {}),
    compensate: {
      src: "work",
      input: { deed: `'${id}'`, x: "context.x", was: "event.data" },
      retry: { attempts: 2, delay: "10ms" },
    },
  },
  on: { [`done.invoke.${id}`]: next, [`error.invoke.${id}`]: "undoing", e2: "undoing" },
});

export function familyChart(kind: number): Chart {
  const random = new Random(kind * 104_729 + 5);
  const nested = random.chance(0.3);
  const join = random.pick(["'all'", "'any'", "{'quorum': 2}"]);
  const onFailed = random.chance(0.5) ? { onFailed: random.pick(["'fail'", "'continue'"]) } : {};
  const holdMax = random.chance(0.3) ? { holdMax: "'30s'" } : {};
  return {
    lockstep: 1,
    settings: { errors: "stop", ...(random.chance(0.4) ? { onFailure: "compensate" as const } : {}) },
    tasks: { work: {} },
    context: { x: 0 },
    initial: "home",
    on: random.chance(0.5) ? { cancel: ".undoing" } : {},
    states: {
      home: { on: { e0: "kid", e1: "brood", e2: "first", a: "zone" } },
      kid: {
        invoke: {
          id: "kid",
          src: "chart",
          input: {
            chart: nested ? `'${nurseryChart}'` : `'${childChart}'`,
            input: { name: "input.name + '-kid'" },
            ...(random.chance(0.6) ? { id: "input.name + '-kid'" } : {}),
          },
        },
        on: {
          ...answered("kid", "home"),
          e1: { actions: { send: { to: "#_kid", type: "e0" } } },
          e2: "home",
        },
      },
      brood: {
        invoke: {
          id: "brood",
          src: "each",
          input: {
            chart: `'${childChart}'`,
            items: "[{'name': 'i0'}, {'name': 'i1'}, {'name': 'i2'}]",
            cap: 1 + random.below(3),
            join,
            ...onFailed,
          },
        },
        on: { ...answered("brood", "home"), e2: "home" },
      },
      first: deed("one", "second", random),
      second: deed("two", "third", random),
      third: {
        on: { e0: "home", e1: "undoing", "a.b": { actions: { assign: { x: "context.nothing.at.all" } } } },
      },
      undoing: { entry: { compensate: true }, on: { "done.compensate": "home" } },
      zone: {
        invoke: { id: "hold", src: "lock", input: { keys: "input.keys", wait: "'20s'", ...holdMax } },
        initial: "waiting",
        states: { waiting: {}, inside: {} },
        on: {
          "done.invoke.hold": ".inside",
          "error.invoke.hold": "home",
          "lock.lost": "home",
          e0: "home",
          "a.c": "over",
          e1: { actions: { assign: { x: "context.x + 1" } } },
        },
      },
      over: { type: "final" },
    },
  };
}

/** Ends by itself after a while, or when told; `e1` breaks it. */
export const child = (): Chart => ({
  lockstep: 1,
  settings: { errors: "stop" },
  context: { x: 0 },
  initial: "busy",
  output: "context.x",
  states: {
    busy: {
      after: { "20s": "done" },
      on: {
        e0: "done",
        e1: { actions: { assign: { x: "context.nothing.at.all" } } },
        e2: { actions: { send: { to: "#_parent", type: "e1" } } },
        a: { actions: { assign: { x: "context.x + 1" } } },
      },
    },
    done: { type: "final" },
  },
});

/** A child that has a child of its own. */
export const nursery = (): Chart => ({
  lockstep: 1,
  context: { x: 0 },
  initial: "kid",
  states: {
    kid: {
      invoke: {
        id: "kid",
        src: "chart",
        input: { chart: `'${childChart}'`, input: { name: "input.name + '-kid'" } },
      },
      on: { ...answered("kid", "done"), e1: "done" },
    },
    done: { type: "final" },
  },
});
