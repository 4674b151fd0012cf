import { describe, expect, test } from "vitest";
import type { Json } from "@/lib/base/json";
import { compile } from "@/lib/statechart/compile";
import type { Action, Chart, Invoke, StateNode } from "@/lib/statechart/document";
import { macrostep } from "@/lib/statechart/macrostep";
import type { Snapshot } from "@/lib/statechart/snapshot";
import { start } from "@/lib/statechart/start";
import { Play } from "@/lib/testing/play-chart";
import { importChart } from "../import-chart";
import type { ImportResult } from "../import-result";

const document = (inside: string, attributes = 'datamodel="ecmascript"'): string =>
  `<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" ${attributes}>${inside}</scxml>`;
const importScxml = (inside: string, attributes?: string): ImportResult =>
  importChart(document(inside, attributes));
function chartOf(inside: string, attributes?: string): Chart {
  const { chart, diagnostics } = importScxml(inside, attributes);
  if (chart === null) throw new Error(JSON.stringify(diagnostics));
  return chart;
}
const stateOf = (inside: string, attributes?: string): StateNode => {
  const { states } = chartOf(inside, attributes);
  return states?.a ?? {};
};
const entryOf = (content: string, attributes?: string): Action[] =>
  [stateOf(`<state id="a"><onentry>${content}</onentry></state>`, attributes).entry ?? []].flat();

/** The snapshot after start and the events. */
function play(inside: string, events: [type: string, data?: Json][] = [], attributes?: string): Snapshot {
  const machine = compile(chartOf(inside, attributes));
  let { snapshot } = start(machine, { id: "s1" }, { at: 0, seq: 1 });
  events.forEach(([type, data], index) => {
    const input = { kind: "event" as const, type, ...(data === undefined ? {} : { data }) };
    snapshot = macrostep(machine, snapshot, input, { at: 0, seq: index + 2 }).snapshot;
  });
  return snapshot;
}

describe("states", () => {
  test("ids stay the author's, dots and hyphens included; states without one get an id", () => {
    const { chart, positions } = importScxml(
      '<state id="a.b-c"><state/><final id="final1"/><final/></state>\n<parallel/>',
    );
    const outer = chart?.states?.["a.b-c"];
    expect(outer?.id).toBe("a.b-c");
    expect(Object.keys(outer?.states ?? {})).toEqual(["state1", "final1", "final2"]);
    expect(chart?.states?.parallel1?.type).toBe("parallel");
    expect(positions?.["parallel1"]).toEqual({ line: 2, column: 1 });
  });

  test("ids that look like numbers keep their place", () => {
    const { states } = chartOf('<state id="b"/><state id="10"/><state id="2"/>');
    expect(
      Object.values(states ?? {})
        .sort((x, y) => (x.order ?? 0) - (y.order ?? 0))
        .map(({ id }) => id),
    ).toEqual(["b", "10", "2"]);
  });

  test("initial: attribute, element with actions, first child, deep and several", () => {
    expect(chartOf('<state id="a"/><state id="b"/>', 'initial="b"').initial).toBe("#b");
    expect(chartOf('<final id="a"/>').initial).toBe("#a");
    const state =
      stateOf(`<state id="a"><initial><transition target="x y"><raise event="e"/></transition></initial>
      <parallel id="p"><state id="x"/><state id="y"/></parallel></state>`);
    expect(state.initial).toEqual({ target: ["#x", "#y"], actions: [{ raise: { type: "e" } }] });
  });

  test("history with its default", () => {
    const { states } =
      stateOf(`<state id="a"><history id="h" type="deep"><transition target="b"><log expr="1"/></transition></history>
      <history id="i"/><state id="b"/></state>`);
    expect(states?.h).toEqual({
      id: "h",
      type: "history",
      history: "deep",
      target: { target: "#b", actions: [{ log: 1 }] },
    });
    expect(states?.i).toEqual({ id: "i", type: "history", history: "shallow" });
  });

  test("what a state holds besides SCXML is named as lost", () => {
    const { losses } = importScxml(
      '<state id="a"><editor:box xmlns:editor="urn:e" x="1"/>\n<colour/></state>',
    );
    expect(losses.map(({ line }) => line)).toEqual([1, 2]);
  });
});

describe("transitions", () => {
  test("descriptors match as in SCXML; several are alternatives", () => {
    const { on } = stateOf('<state id="a"><transition event="x y.z. e.* *" target="a"/></state>');
    expect(Object.keys(on ?? {})).toEqual(["x.*", "y.z.*", "e.*", "*"]);
  });

  test("document order survives descriptors that interleave", () => {
    const inside = `<datamodel><data id="n" expr="0"/></datamodel><state id="s">
      <transition event="e" cond="n == 0"><assign location="n" expr="1"/></transition>
      <transition event="*" cond="n == 1"><assign location="n" expr="2"/></transition>
      <transition event="e"><assign location="n" expr="n * 10"/></transition></state>`;
    expect(play(inside, [["e"], ["e"], ["e"]]).context).toEqual({ n: 20 });
  });

  test("type decides re-entry once: external from inside leaves its source, internal of a compound does not", () => {
    const inside = (type: string, target: string): string => `<datamodel><data id="n" expr="0"/></datamodel>
      <state id="a"><onentry><assign location="n" expr="n + 1"/></onentry>
      <transition event="e" ${type} target="${target}"/><state id="b"/><state id="c"/></state><state id="z"/>`;
    const entries = (type: string, target: string): Json | undefined =>
      play(inside(type, target), [["e"]]).context.n;
    expect(entries("", "c")).toBe(2);
    expect(entries('type="internal"', "c")).toBe(1);
    expect(entries("", "a")).toBe(2);
    expect(entries('type="internal"', "a")).toBe(2);
  });

  test("a history state that restores the source itself, or what is inside it, leaves the source", () => {
    const inside = `<datamodel><data id="n" expr="0"/></datamodel><state id="p" initial="a">
      <history id="h" type="deep"><transition target="a"/></history>
      <state id="a"><onentry><assign location="n" expr="n + 1"/></onentry>
        <transition event="e" target="h"/><state id="b"/></state></state>`;
    expect(play(inside, [["e"], ["e"]])).toMatchObject({ configuration: ["b"], context: { n: 3 } });
  });

  test("an internal transition of a parallel state leaves it all the same", () => {
    const inside = `<datamodel><data id="n" expr="0"/></datamodel><parallel id="p"><onentry><assign location="n" expr="n + 1"/></onentry>
      <transition event="e" type="internal" target="x y"/><state id="x"/><state id="y"/></parallel>`;
    expect(play(inside, [["e"]]).context.n).toBe(2);
  });
});

describe("executable content", () => {
  test.each<[string, Action[]]>([
    ['<raise event="e"/>', [{ raise: { type: "e" } }]],
    ['<log label="L" expr="\'x\'"/><log/>', [{ log: "'x'", label: "L" }, { log: null }]],
    ['<assign location="x" expr="x + 1"/>', [{ assign: { x: "context.x + 1" } }]],
    ['<assign location="x">{"k": "v"}</assign>', [{ assign: { x: { k: "'v'" } } }]],
    ["<assign location='x'>  some \n text </assign>", [{ assign: { x: "'some text'" } }]],
    ["<assign location='x'><b>1</b></assign>", [{ assign: { x: "'<b>1</b>'" } }]],
    [
      '<if cond="x == 1"><raise event="a"/><elseif cond="x == 2"/><raise event="b"/><raise event="c"/><else/><raise event="d"/></if>',
      [
        {
          if: "context.x == 1",
          then: [{ raise: { type: "a" } }],
          else: {
            if: "context.x == 2",
            then: [{ raise: { type: "b" } }, { raise: { type: "c" } }],
            else: [{ raise: { type: "d" } }],
          },
        },
      ],
    ],
    ['<if cond="true"/>', [{ if: "true", then: [] }]],
    [
      '<foreach array="x" item="i" index="n"><log expr="i"/></foreach>',
      [{ foreach: { in: "context.x", item: "i", index: "n", do: [{ log: "context.i" }] } }],
    ],
    ['<cancel sendid="t"/><cancel sendidexpr="x"/>', [{ cancel: "t" }, { cancel: { cel: "context.x" } }]],
    [
      '<send id="s" event="e" target="#_parent" delay="1.5s" namelist="x"><param name="p" expr="1"/><param name="q" location="x.y"/></send>',
      [
        {
          send: {
            type: "e",
            to: "#_parent",
            data: { x: "context.x", p: 1, q: "context.x.y" },
            delay: "1.5s",
            id: "s",
          },
        },
      ],
    ],
    [
      '<send eventexpr="\'e\' + x" delayexpr="x" idlocation="x"><content expr="x"/></send>',
      [
        {
          send: {
            type: { cel: "'e' + string(context.x)" },
            data: "context.x",
            delay: "context.x",
            idLocation: "x",
          },
        },
      ],
    ],
    [
      '<send event="e" type="http://www.w3.org/TR/scxml/#SCXMLEventProcessor/"><content>{"a": [1]}</content></send>',
      [{ send: { type: "e", data: { a: [1] } } }],
    ],
    [
      '<send event="e" type="basichttp" target="http://x"/>',
      [{ send: { type: "e", to: "unsupported-type:basichttp" } }],
    ],
    ["<script>x = 2</script>", [{ placeholder: "script", text: "x = 2" }]],
    ["<dance/>", [{ placeholder: "dance", text: "" }]],
  ])("%s", (content, expected) => {
    const read = stateOf(
      `<datamodel><data id="x" expr="0"/></datamodel><state id="a"><onentry>${content}</onentry></state>`,
    );
    expect([read.entry].flat()).toEqual(expected);
  });

  test("several blocks are failure scopes of their own", () => {
    const inside = `<datamodel><data id="x" expr="0"/></datamodel><state id="a">
      <onentry><assign location="nowhere" expr="1"/><assign location="x" expr="x + 100"/></onentry>
      <onentry><assign location="x" expr="x + 1"/></onentry></state>`;
    expect(play(inside).context).toEqual({ x: 1 });
  });

  test("a script stands as a placeholder with its text, counted, and is never run", () => {
    const { placeholders, losses, chart } = importScxml(
      "<script>globalThis.hacked = 1</script>\n<state id='a'/>",
    );
    expect(placeholders).toBe(1);
    expect(losses).toMatchObject([{ line: 1 }]);
    expect(chart?.entry).toEqual([{ placeholder: "script", text: "globalThis.hacked = 1" }]);
    expect((globalThis as { hacked?: unknown }).hacked).toBeUndefined();
  });

  test("donedata and invoke", () => {
    const state =
      stateOf(`<state id="a"><invoke id="i" type="scxml" autoforward="true"><param name="p" expr="2"/>
      <content><scxml initial="x"><final id="x"/></scxml></content><finalize><log expr="1"/></finalize></invoke>
      <final id="f"><donedata><param name="r" expr="1 + 1"/></donedata></final></state>`);
    expect(state.states?.f?.output).toEqual({ r: "1 + 1" });
    expect(state.invoke).toEqual([
      {
        src: "chart",
        id: "i",
        input: { source: `'<scxml initial="x"><final id="x"/></scxml>'`, params: { p: 2 } },
        autoforward: true,
        finalize: [{ log: 1 }],
      },
    ]);
  });

  test("an invocation's type may be computed: where it is no child chart's, starting it fails", () => {
    const { invoke } = stateOf(
      `<state id="a"><invoke typeexpr="'http://www.w3.org/TR/' + 'scxml/'"><content><scxml><final id="x"/></scxml></content></invoke></state>`,
    );
    const [one] = invoke as Invoke[];
    expect(one?.src).toBe("chart");
    const played = (type: string): Play => {
      const { chart } = importChart(
        `<scxml xmlns="http://www.w3.org/2005/07/scxml" datamodel="ecmascript"><datamodel><data id="t" expr="'${type}'"/></datamodel><state id="a"><invoke typeexpr="t"><content><scxml><final id="x"/></scxml></content></invoke><transition event="error.execution" target="bad"/></state><state id="bad"/></scxml>`,
      );
      return new Play(chart as Chart);
    };
    expect(played("scxml").effects("invoke.start")).toHaveLength(1);
    expect(played("telnet").value).toBe("bad");
  });
});

describe("data", () => {
  test("values: literal, computed, inline JSON, text and markup; none is null", () => {
    const inside = `<datamodel><data id="a" expr="[1, 'x', {k: null}]"/><data id="b" expr="c + 1"/><data id="c" expr="2"/>
      <data id="d">{"j": true}</data><data id="e"> a  text </data><data id="f"><x>1</x></data><data id="g"/></datamodel><state/>`;
    expect(play(inside).context).toEqual({
      a: [1, "x", { k: null }],
      b: 3,
      c: 2,
      d: { j: true },
      e: "a text",
      f: "<x>1</x>",
      g: null,
    });
  });

  test("a first value that fails is null and error.execution", () => {
    const inside = `<datamodel><data id="x" expr="return"/></datamodel><state id="a"><transition event="error.execution" target="b"/></state><state id="b"/>`;
    const snapshot = play(inside);
    expect(snapshot.context).toEqual({ x: null });
    expect(snapshot.configuration).toEqual(["b"]);
  });

  test("binding late: null until the first entry", () => {
    const inside = `<datamodel><data id="seen"/></datamodel><state id="a"><transition event="e" target="b"/></state>
      <state id="b"><datamodel><data id="x" expr="5"/></datamodel><onentry><assign location="seen" expr="x"/><assign location="x" expr="x + 1"/></onentry>
      <transition event="e" target="b"/></state>`;
    expect(play(inside, [], 'datamodel="ecmascript" binding="late"').context).toEqual({
      seen: null,
      x: null,
    });
    expect(play(inside, [["e"], ["e"]], 'datamodel="ecmascript" binding="late"').context).toEqual({
      seen: 6,
      x: 7,
    });
  });

  test("src is read by the caller's loader, and lost without one", () => {
    const text = document('<datamodel><data id="x" src="file:data.json"/></datamodel><state/>');
    const loaded = importChart(text, { load: (src) => (src === "file:data.json" ? "[1, 2]" : null) });
    expect(loaded.chart?.context).toEqual({ x: [1, 2] });
    const alone = importChart(text);
    expect(alone.chart?.context).toEqual({ x: null });
    expect(alone.losses[0]?.message).toContain("data.json");
  });

  test("an undeclared name and a system variable cannot be assigned or read", () => {
    const fails = (content: string): string[] =>
      play(
        `<state id="a"><onentry>${content}</onentry><transition event="error.execution" target="b"/></state><state id="b"/>`,
      ).configuration;
    expect(fails('<assign location="ghost" expr="1"/>')).toEqual(["b"]);
    expect(fails('<assign location="_sessionid" expr="1"/>')).toEqual(["b"]);
    expect(fails('<log expr="ghost"/>')).toEqual(["b"]);
    expect(fails('<log expr="_sessionid"/>')).toEqual(["a"]);
  });
});

describe("datamodels", () => {
  test("cel: expressions are CEL already", () => {
    const inside = `<datamodel><data id="x" expr="1 + 1"/></datamodel><state id="a"><transition cond="context.x > 1 &amp;&amp; 'a' in ['a']" target="b"/></state><state id="b"/>`;
    expect(play(inside, [], 'datamodel="cel"').configuration).toEqual(["b"]);
  });

  test("null: In() is all it has", () => {
    const inside = `<parallel id="p"><state id="a"><transition cond="In('c')" target="b"/></state><state id="b1" initial="c"><state id="c"/></state></parallel><state id="b"/>`;
    expect(play(inside, [], 'datamodel="null"').configuration).toEqual(["b"]);
  });

  test("any other language stands as a placeholder with its text, what is the same everywhere does not", () => {
    const { chart, placeholders } = importScxml(
      `<datamodel><data id="x" expr="5"/><data id="y" expr="{1, 2}"/></datamodel><state id="a">
       <transition event="e" cond="x ~= 5" target="a"/><transition event="f" cond="In('a')" target="a"/></state>`,
      'datamodel="lua"',
    );
    expect(placeholders).toBe(2);
    expect(chart?.context).toEqual({ x: 5, y: null });
    expect(chart?.entry).toEqual([{ assign: { y: { placeholder: "lua", text: "{1, 2}" } } }]);
    expect(chart?.states?.a?.on?.["e.*"]).toMatchObject({ guard: { placeholder: "lua", text: "x ~= 5" } });
    expect(chart?.states?.a?.on?.["f.*"]).toMatchObject({ guard: "In('a')" });
  });

  test("a text outside the subset is a placeholder, lost by line; no expression at all fails when it is reached", () => {
    const { chart, losses } = importScxml(
      `<state id="a">\n<transition event="e" cond="Math.max(1, 2) == 2" target="a"/>\n<transition event="e" cond="return" target="a"/></state>`,
    );
    expect(chart?.states?.a?.on?.["e.*"]).toMatchObject([
      { guard: { placeholder: "ecmascript", text: "Math.max(1, 2) == 2" } },
      { guard: "not ecmascript: return" },
    ]);
    expect(losses).toMatchObject([{ line: 2, column: 1 }]);
  });
});

test("a bare & is named where it stands, not where the parser stumbles over it", () => {
  const { diagnostics } = importScxml('<state id="a">\n<transition cond="x && y" target="a"/>\n</state>');
  expect(diagnostics).toMatchObject([{ code: "bad-xml", at: { line: 2, column: 21 } }]);
  expect(diagnostics[0]?.message).toContain("&amp;");
});

test("without a datamodel attribute expressions are read as ECMAScript", () => {
  expect(entryOf("<log expr=\"'x'\"/>", "")).toEqual([{ log: "'x'" }]);
});
