/**
 * The same random chart as an XState 5 machine: the oracle of the differential test.
 */
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type * as xstate from "xstate";
import type { ActorLogic, AnyStateMachine, EventObject, Snapshot } from "xstate";
import { assert } from "@/lib/base/assert";
import type { RandomAction, RandomGuard, RandomState, RandomTransition } from "./random-chart";

interface Data {
  x: number;
  y: number;
  fuel: number;
  log: string[];
}
type Fn = {
  context: Data;
  event: { type: string; n?: number; output?: number; error?: { code: string } };
};

export type XState = typeof xstate;

/**
 * XState with one line changed: it keeps its active states in the order in which they were entered, and asks the regions of
 * a parallel state in that order, which differs from run to run of the same configuration. SCXML, and we, use document
 * order. To compare everything else, this copy sorts them. The installed package is not touched.
 */
export async function xstateInDocumentOrder(): Promise<XState> {
  const installed = dirname(createRequire(import.meta.url).resolve("xstate"));
  const copy = mkdtempSync(join(tmpdir(), "xstate-in-document-order-"));
  try {
    cpSync(installed, copy, { recursive: true });
    writeFileSync(join(copy, "package.json"), JSON.stringify({ type: "module" }));
    const line = "const nextStateNodes = [...mutStateNodeSet];";
    let patched = 0;
    for (const name of readdirSync(copy).filter((file) => file.endsWith(".esm.js"))) {
      const text = readFileSync(join(copy, name), "utf8");
      if (!text.includes(line)) continue;
      writeFileSync(
        join(copy, name),
        text.replace(line, `${line.slice(0, -1)}.sort((a, b) => a.order - b.order);`),
      );
      patched++;
    }
    assert(
      patched === 2,
      "XState has changed: the line that keeps active states must be found in both builds",
    );
    return (await import(/* @vite-ignore */ pathToFileURL(join(copy, "xstate.esm.js")).href)) as XState;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** What a test tells a running invocation to do: `fromPromise`, settled by hand and at once. */
export type WorkAnswer = { type: "settle"; output: number } | { type: "settle"; error: { code: string } };

const work: ActorLogic<Snapshot<number>, EventObject> = {
  getInitialSnapshot: () => ({ status: "active", output: undefined, error: undefined }),
  transition(snapshot, event) {
    if (event.type === "xstate.stop")
      return { ...snapshot, status: "stopped", output: undefined, error: undefined };
    if (event.type !== "settle") return snapshot;
    const answer = event as WorkAnswer;
    return "error" in answer
      ? { status: "error", output: undefined, error: answer.error }
      : { status: "done", output: answer.output, error: undefined };
  },
  getPersistedSnapshot: (snapshot) => snapshot,
};

export function toXState(xstate: XState, root: RandomState): AnyStateMachine {
  const config = { context: { x: 0, y: 0, fuel: 4, log: [] }, ...new Writer(xstate).node(root) };
  // The config is built from data, so XState's inference has nothing to infer from.
  return xstate.createMachine(config as never) as AnyStateMachine;
}

class Writer {
  constructor(private readonly xstate: XState) {}

  node(state: RandomState): Record<string, unknown> {
    const made: Record<string, unknown> = { id: state.id };
    if (state.type === "parallel" || state.type === "final" || state.type === "history")
      made.type = state.type;
    if (state.children.length > 0) {
      made.states = Object.fromEntries(state.children.map((child) => [child.key, this.node(child)]));
    }
    if (state.initial !== null) {
      made.initial = {
        target: state.initial.key,
        actions: this.actions(state.initial.actions),
      };
    }
    if (state.history !== null) {
      made.history = state.history.kind;
      if (state.history.target !== null) made.target = `#${state.history.target}`;
    }
    made.entry = this.actions(state.entry);
    made.exit = this.actions(state.exit);
    made.on = Object.fromEntries(
      state.on.map((one) => [one.descriptor, one.transitions.map((one) => this.transition(one))]),
    );
    made.after = Object.fromEntries(
      state.after.map((one) => [one.delayMs, one.transitions.map((one) => this.transition(one))]),
    );
    made.always = state.always.map((one) => this.transition(one));
    if (state.onDone.length > 0) made.onDone = state.onDone.map((one) => this.transition(one));
    if (state.invokes.length > 0) {
      made.invoke = state.invokes.map((one) => ({
        id: one.id,
        src: work,
        onDone: one.onDone.map((one) => this.transition(one)),
        onError: one.onError.map((one) => this.transition(one)),
      }));
    }
    const { output } = state;
    if (output !== null) made.output = ({ context }: Fn) => context.x + output;
    return made;
  }

  private transition(one: RandomTransition): Record<string, unknown> {
    return {
      ...(one.targets.length > 0 ? { target: one.targets.map((id) => `#${id}`) } : {}),
      ...(one.guard !== null ? { guard: this.guard(one.guard) } : {}),
      actions: this.actions(one.actions),
      reenter: one.reenter,
    };
  }

  private guard(one: RandomGuard): unknown {
    switch (one.kind) {
      case "compare":
        return ({ context }: Fn) => {
          const value = context[one.variable];
          const left = one.modulo === null ? value : value % one.modulo;
          return one.op === "<" ? left < one.value : one.op === ">" ? left > one.value : left === one.value;
        };
      case "fuel":
        return ({ context }: Fn) => context.fuel > 0;
      case "in":
        return this.xstate.stateIn(`#${one.id}` as never);
      case "data":
        return ({ event }: Fn) => (event.n ?? 0) > one.value && event.n !== undefined;
      case "fails":
        return () => {
          throw new Error("planted");
        };
      case "and":
        return this.xstate.and(one.parts.map((part) => this.guard(part)) as never);
      case "or":
        return this.xstate.or(one.parts.map((part) => this.guard(part)) as never);
      case "not":
        return this.xstate.not(this.guard(one.part) as never);
    }
  }

  private actions(list: readonly RandomAction[]): unknown[] {
    return list.flatMap((one) =>
      one.kind === "later" && one.id !== null
        ? [this.xstate.cancel(one.id), this.action(one)]
        : [this.action(one)],
    );
  }

  private action(one: RandomAction): unknown {
    const set = (change: (args: Fn) => Partial<Data>): unknown => this.xstate.assign(change);
    switch (one.kind) {
      case "add":
        return set(({ context }) => ({ [one.variable]: context[one.variable] + one.value }));
      case "swap":
        return set(({ context }) => ({ x: context.y, y: context.x }));
      case "mark":
        return set(({ context }) => ({ log: [...context.log, one.text] }));
      case "take-data":
        return set(({ context, event }) => ({ y: event.n ?? context.y }));
      case "take-output":
        return set(({ context, event }) => ({ x: event.output ?? context.x }));
      case "take-error":
        return set(({ context, event }) => ({ log: [...context.log, event.error?.code ?? "no error"] }));
      case "raise":
        return this.xstate.raise({ type: one.type });
      case "send":
        return this.xstate.sendTo(({ self }) => self as never, { type: one.type } as never);
      case "later": {
        const event = { type: one.type, n: one.n };
        const options = { delay: one.delayMs, ...(one.id === null ? {} : { id: one.id }) };
        return one.by === "raise"
          ? this.xstate.raise(event, options)
          : this.xstate.sendTo(({ self }) => self as never, event as never, options);
      }
      case "cancel":
        return this.xstate.cancel(one.id);
      case "emit":
        return this.xstate.emit({ type: one.type });
      case "choose":
        return this.xstate.enqueueActions(({ enqueue, check }) => {
          const chosen = check(this.guard(one.guard) as never) ? one.yes : one.no;
          for (const action of this.actions([chosen])) enqueue(action as never);
        });
      case "burn":
        return set(({ context }) => ({ fuel: context.fuel - 1 }));
      case "refuel":
        return set(() => ({ fuel: 4 }));
    }
  }
}
