/**
 * Good texts that show much of each format in little space: what fuzzing starts from.
 */
export const sampleTexts = {
  lockstep: [
    JSON.stringify({
      lockstep: 1,
      id: "m",
      initial: "a",
      context: { n: 1, log: [], zone: { eta: 5 }, at: { cel: "context.n + 1" } },
      schemas: { events: { go: { type: "object", properties: { n: { type: "integer", enum: [1, 2] } } } } },
      guards: { many: "context.n > params.least", ready: { and: ["context.n > 0", { not: { in: "b" } }] } },
      actions: { note: [{ log: "event" }, { assign: { "zone.eta": "context.zone.eta + 1" } }] },
      delays: { soon: "context.n * 10" },
      tasks: { work: {} },
      settings: { errors: "continue", microstepsMax: 100 },
      states: {
        a: {
          entry: [{ raise: { type: "x" } }, { send: { type: "later", delay: "soon", id: "t" } }],
          on: {
            go: [
              { target: "b", guard: { type: "many", params: { least: 2 } }, actions: "note" },
              { actions: { cancel: "t" } },
            ],
            "a.*": { target: [".c.d", ".c.e"] },
            no: {},
          },
          after: { "1s": "b", PT1H: { target: "c", reenter: true } },
          always: { guard: "context.n > 100", target: "b" },
          initial: "c",
          states: {
            c: {
              type: "parallel",
              states: { d: { tags: ["t"] }, e: { invoke: { src: "work", onDone: "#m.b", onError: {} } } },
            },
          },
          onDone: "b",
        },
        b: {
          initial: "p",
          exit: {
            foreach: {
              in: "context.log",
              item: "i",
              index: "k",
              do: { if: "i == k", then: { emit: { type: "y", data: "i" } } },
            },
          },
          states: {
            p: { type: "final", output: "context.n" },
            h: { type: "history", history: "deep", target: "p" },
          },
          on: { back: "#m.b.h", out: "end" },
        },
        end: { type: "final" },
      },
    }),
  ],
  scxml: [
    `<scxml xmlns="http://www.w3.org/2005/07/scxml" datamodel="ecmascript" binding="late" initial="a"><script>x = 1</script>
<datamodel><data id="x" expr="1"/><data id="y">[1, 2]</data></datamodel>
<state id="a"><invoke type="scxml" id="i" idlocation="x"><content><scxml><final/></scxml></content><param name="p" expr="x"/><finalize/></invoke>
<onentry><if cond="x == 1"><raise event="e"/><elseif cond="y[0] &lt; 2"/><log expr="x"/><else/><cancel sendidexpr="x"/></if>
<foreach array="y" item="z" index="i"><assign location="x" expr="x + z"/></foreach>
<send eventexpr="'e'" target="#_internal" delay="1s" namelist="x y"><param name="q" location="y"/></send></onentry>
<history id="h" type="deep"><transition target="b"/></history><state id="b"><transition event="e f.*" cond="!(x &gt; 1)" target="c"/></state>
<final id="c"><donedata><content expr="{a: x}"/></donedata></final></state></scxml>`,
    `<scxml xmlns="http://www.w3.org/2005/07/scxml" datamodel="cel" version="1.0"><parallel id="p"><state id="l"><transition event="*" target="r"/></state>
<state id="r" initial="r2"><state id="r1"/><state id="r2"><transition cond="In('l')" target="r1"/></state></state><transition event="done.state.p" target="f"/></parallel><final id="f"/></scxml>`,
  ],
  xstate: [
    JSON.stringify({
      id: "m",
      initial: "a",
      context: { n: 1, e: "{{ n }}" },
      states: {
        a: {
          on: {
            GO: [
              {
                target: "#m.b",
                guard: "ready",
                actions: [{ type: "xstate.assign", params: { assignment: { n: 2 } } }],
              },
            ],
            "*": "b",
            "x.*": { target: ".c" },
          },
          after: { "1000": "b", PT1H: "b" },
          initial: "c",
          states: { c: {} },
        },
        b: {
          type: "parallel",
          states: { p: { type: "final" }, q: { type: "history", history: "deep" } },
          invoke: { src: "work", onDone: "a", onError: { target: "a" } },
        },
      },
    }),
  ],
  mermaid: [
    `stateDiagram-v2
    direction LR
    state "Waiting for payment" as waiting
    [*] --> waiting
    waiting --> paid : pay [amount >= total] / note, thank
    paid --> [*]
    state waiting {
      [*] --> first
      first --> second : after 1s
      --
      [*] --> other
    }
    state choose <<choice>>
    paid --> choose
    choose --> waiting : [x < 1]
    choose --> paid
    note right of paid : good
    classDef bad fill:#f00
    class paid bad`,
    `stateDiagram
    state f <<fork>>
    state j <<join>>
    [*] --> f
    f --> a
    f --> b
    a --> j
    b --> j
    j --> done
    done --> [*]`,
  ],
  source: [
    `import { setup, assign } from "xstate";
export const machine = setup({
  types: {} as { context: { n: number }; events: { type: "GO" } },
  guards: { ready: ({ context }) => context.n > 1 },
  actions: { add: assign({ n: ({ context }) => context.n + 1 }) },
  delays: { soon: 1_000 },
}).createMachine({
  id: "m",
  initial: "a",
  context: { n: 0 },
  states: {
    a: { on: { GO: { target: "b", guard: "ready", actions: ["add", { type: "log", params: { x: 1 } }] } }, after: { soon: "b" } },
    b: { type: "final", output: ({ context }) => context.n },
  },
});`,
    `const { createMachine } = require("xstate");
module.exports = createMachine({ initial: 'x', states: { x: { entry: () => {}, always: [{ target: 'y', guard: not('z') }] }, y: {} } });`,
  ],
} as const;
