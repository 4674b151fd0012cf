import { describe, expect, test } from "vitest";
import { importChart } from "./import-chart";

const scxml = (inside: string, attributes = ""): string =>
  `<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" ${attributes}>${inside}</scxml>`;
const first = (text: string): string => {
  const [diagnostic] = importChart(text).diagnostics;
  const { line, column } = diagnostic?.at ?? {};
  return `${line ?? ""}:${column ?? ""} ${diagnostic?.code}`;
};

describe("the format is found in the text", () => {
  test.each([
    ['{"lockstep": 1, "initial": "a", "states": {"a": {}}}', "lockstep"],
    ['\uFEFF  {"initial": "a", "states": {"a": {}}}', "xstate"],
    ['\uFEFF<?xml version="1.0"?>' + scxml('<state id="a"/>'), "scxml"],
    [scxml('<state id="a"/>'), "scxml"],
    ["%% a drawing\nstateDiagram-v2\n  [*] --> a\n  a", "mermaid"],
    ['export const m = createMachine({ initial: "a", states: { a: {} } })', "xstate"],
    ['<s:scxml xmlns:s="http://www.w3.org/2005/07/scxml"><s:state id="a"/></s:scxml>', "scxml"],
  ])("%s", (text, format) => {
    const result = importChart(text);
    expect(result.format).toBe(format);
    expect(result.diagnostics).toEqual([]);
    expect(Object.keys(result.chart?.states ?? {})).toEqual(["a"]);
  });

  test("neither, nothing, or another version of ours is said so", () => {
    expect(first("createMachine({})")).toBe(": not-a-machine");
    expect(first("a chart")).toBe("1:1 unknown-format");
    expect(first("")).toBe("1:1 unknown-format");
    expect(first('{"lockstep": 2}')).toBe(": unknown-version");
    expect(first('{"name": "left-pad", "version": "1.0.0"}')).toBe(": not-a-machine");
    expect(first("[]")).toBe(": not-a-machine");
    expect(first("<html><body/></html>")).toBe("1:1 not-scxml");
  });
});

describe("hostile texts are refused by line and column, within bounds", () => {
  const bomb = `<?xml version="1.0"?>
<!DOCTYPE scxml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<scxml xmlns="http://www.w3.org/2005/07/scxml"><state id="&b;"/></scxml>`;
  const cases: [name: string, text: string, expected: string | RegExp][] = [
    ["an entity bomb", bomb, /^2:\d+ bad-xml$/],
    ["an external entity", '<!DOCTYPE s SYSTEM "file:///etc/passwd"><scxml/>', /^1:\d+ bad-xml$/],
    ["an entity of its own", scxml('<state id="&x;"/>'), /^1:\d+ bad-xml$/],
    ["an unclosed element", scxml('\n<state id="a">'), /^2:\d+ bad-xml$/],
    ["deep elements", "<a>".repeat(100_000), /^1:\d+ bad-xml$/],
    ["deep states", scxml("<state>".repeat(100) + "</state>".repeat(100)), /too-deep$/],
    ["a NUL", scxml("<state id='\0'/>"), /^1:\d+ bad-xml$/],
    ["deep JSON", '{"states":'.repeat(100_000), /^1:\d+ bad-json$/],
    ["10 MB of JSON", `{"states": {"a": "${"x".repeat(10 * 1024 * 1024)}"}}`, ": too-large"],
    ["10 MB of XML", scxml(`<!--${"x".repeat(10 * 1024 * 1024)}-->`), ": too-large"],
    ["a million unclosed comments", scxml("<!--".repeat(1_000_000)), /^1:\d+ bad-xml$/],
    ["a million ampersands", scxml("&".repeat(1_000_000)), /^1:\d+ bad-xml$/],
    [
      "many actions for many events",
      scxml(
        `<state><transition event="${Array.from({ length: 20_000 }, (_, i) => `e${i}`).join(" ")}">${"<raise event='x'/>".repeat(20_000)}</transition></state>`,
      ),
      /too-large$/,
    ],
    ["many elements", scxml("<state/>".repeat(60_000)), /^1:\d+ bad-xml$/],
    ["many states", scxml("<state/>".repeat(20_000)), /too-large$/],
    ["__proto__ in JSON", '{"states": {\n "__proto__": {}}}', "2:2 bad-json"],
    ["__proto__ as a state", scxml('<state id="__proto__"/>'), /^1:\d+ bad-id$/],
    [
      "__proto__ as data",
      scxml('<datamodel><data id="__proto__" expr="1"/></datamodel><state/>'),
      /^1:\d+ bad-id$/,
    ],
    [
      "__proto__ as a location",
      scxml('<state><onentry><assign location="__proto__" expr="1"/></onentry></state>'),
      /^1:\d+ bad-location$/,
    ],
    ["two states of one id", scxml('<state id="a"/>\n<state id="a"/>'), "2:1 duplicate-id"],
  ];
  test.each(cases)("%s", (_, text, expected) => {
    const began = process.cpuUsage();
    const result = importChart(text);
    const { user, system } = process.cpuUsage(began);
    // Processor time, for the machine may be busy. 2 s: the bounds exist so that this never grows with the text.
    expect((user + system) / 1000).toBeLessThan(2_000);
    expect(result.chart).toBeNull();
    expect(first(text)).toMatch(expected);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test("constructor, toString and hasOwnProperty are names like any other", () => {
    const names = ["constructor", "toString", "hasOwnProperty", "prototype"];
    const text = scxml(
      `<datamodel>${names.map((name) => `<data id="${name}" expr="1"/>`).join("")}</datamodel>` +
        names
          .map((name) => `<state id="${name}"><transition event="${name}" target="toString"/></state>`)
          .join(""),
    );
    const { chart, diagnostics } = importChart(text);
    expect(diagnostics).toEqual([]);
    expect(Object.keys(chart?.states ?? {})).toEqual(names);
  });

  test("so they are as XState's events, delays, guards and actions", () => {
    for (const name of ["constructor", "toString", "hasOwnProperty", "valueOf"]) {
      const on = { [name]: { target: name, guard: name, actions: name } };
      const { chart, diagnostics } = importChart(
        JSON.stringify({ initial: name, states: { [name]: { on, after: { [name]: name } } } }),
      );
      expect(diagnostics).toEqual([]);
      expect(Object.keys(chart?.states?.[name]?.on ?? {})).toEqual([name]);
    }
  });
});
