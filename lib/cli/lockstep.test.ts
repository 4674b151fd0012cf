/**
 * The command's contract, on the bundle that people run.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SessionLine } from "@/lib/play/session";
import { usageOf } from "./usage";

const root = join(import.meta.dirname, "../..");
const bin = join(root, "dist/lockstep.js");
const microwave = join(root, "examples/microwave.scxml");
let folder = "";

beforeAll(() => {
  execFileSync(process.execPath, [join(root, "scripts/build-bin.mjs")]);
  folder = mkdtempSync(join(tmpdir(), "lockstep-cli-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string | Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const chart = (name: string, document: object): string =>
  file(name, JSON.stringify({ lockstep: 1, ...document }));

interface Done {
  code: number | null;
  out: string;
  err: string;
}
function lockstep(args: string[], input = ""): Promise<Done> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args]);
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.on("error", reject).on("close", (code) => resolve({ code, out, err }));
    // The command may end before it has read everything.
    child.stdin.on("error", () => undefined).end(input);
  });
}
const lines = ({ out }: Done): SessionLine[] =>
  out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as SessionLine);

describe("run", () => {
  test("the microwave: door and engine by hand, event by event", async () => {
    const events = join(root, "examples/microwave.events.jsonl");
    const done = await lockstep(["run", microwave, "--events", events, "--json"]);
    expect(done).toMatchObject({ code: 0, err: "" });
    const seen = lines(done).map((line) => [
      line.seq,
      line.event,
      line.outcome,
      line.configuration.join(" "),
      (line.context as { timer: number }).timer,
    ]);
    expect(seen).toEqual([
      [1, null, "moved", "off closed", 0],
      [2, "turn.on", "moved", "cooking closed", 0],
      [3, "time", "handled", "cooking closed", 1],
      [4, "time", "handled", "cooking closed", 2],
      [5, "door.open", "moved", "idle open", 2],
      [6, "time", "ignored", "idle open", 2],
      [7, "door.close", "moved", "cooking closed", 2],
      [8, "time", "handled", "cooking closed", 3],
      [9, "time", "handled", "cooking closed", 4],
      [10, "time", "handled", "off closed", 0],
      [11, "turn.off", "ignored", "off closed", 0],
    ]);
    const [first, second, , , , sixth] = lines(done);
    expect(first).toEqual({
      seq: 1,
      event: null,
      outcome: "moved",
      status: "running",
      configuration: ["off", "closed"],
      value: { oven: { engine: "off", door: "closed" } },
      context: { cook_time: 5, timer: 0 },
      tags: [],
      log: [],
      emitted: [],
    });
    expect(second?.value).toEqual({ oven: { engine: { on: "cooking" }, door: "closed" } });
    expect(sixth?.reason).toBe("no-handler");
    expect(lines(done)[9]?.log).toEqual([{ label: "ding", value: "done after 5 s" }]);
  });

  test("events from stdin are answered one by one, before the next is written", async () => {
    const child = spawn(process.execPath, [bin, "run", microwave, "--events", "-", "--json"]);
    const next = (): Promise<SessionLine> =>
      new Promise((resolve) =>
        child.stdout.once("data", (text: Buffer) => resolve(JSON.parse(text.toString()) as SessionLine)),
      );
    expect((await next()).seq).toBe(1);
    for (const [type, seq] of [
      ["turn.on", 2],
      ["time", 3],
      ["nonsense", 4],
    ] as const) {
      child.stdin.write(`{"type":"${type}"}\n`);
      expect((await next()).seq).toBe(seq);
    }
    child.stdin.end();
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
  });

  test("without --events nothing is read: the start line, and the drain line when asked for", async () => {
    const timed = chart("timed.json", {
      initial: "a",
      states: { a: { after: { "10s": "b" } }, b: { after: { "1h": "c" } }, c: {} },
    });
    expect(lines(await lockstep(["run", timed, "--json"], '{"type":"x"}\n')).map(({ seq }) => seq)).toEqual([
      1,
    ]);
    expect(
      lines(await lockstep(["run", timed, "--json", "--drain"])).map(({ configuration }) => configuration),
    ).toEqual([["a"], ["b"]]);
    expect(
      lines(await lockstep(["run", timed, "--json", "--drain", "--until", "2h"])).map(
        ({ configuration }) => configuration,
      ),
    ).toEqual([["a"], ["c"]]);
    expect(lines(await lockstep(["run", timed, "--json", "--drain", "--until", "9s"])).at(-1)).toMatchObject({
      event: null,
      outcome: "ignored",
      reason: "nothing-due",
    });
  });

  test.each(['{"advance": 10000}', '{"advance": "10s"}', '{"advance": "PT10S"}', '{"advance": "9s1000ms"}'])(
    "%s",
    async (line) => {
      const timed = chart("ten.json", { initial: "a", states: { a: { after: { "10s": "b" } }, b: {} } });
      const done = await lockstep(["run", timed, "--events", "-", "--json"], `${line}\n`);
      expect(lines(done)[1]).toMatchObject({ seq: 2, event: null, outcome: "moved", configuration: ["b"] });
    },
  );

  test("the end: status, output, last configuration; later events are ignored as final", async () => {
    const ends = chart("ends.json", {
      initial: "a",
      context: { n: 2 },
      output: "event.output",
      states: {
        a: {
          tags: ["busy"],
          on: { go: { target: "z", actions: { emit: { type: "bye", data: "context.n" } } } },
        },
        z: { type: "final", output: "context.n * 21" },
      },
    });
    const done = await lockstep(
      ["run", ends, "--events", "-", "--json"],
      '{"type":"go","data":{"x":1}}\n\n{"type":"go"}\n',
    );
    expect(done.code).toBe(0);
    expect(lines(done)[0]).toMatchObject({ tags: ["busy"], status: "running" });
    expect(lines(done)[1]).toMatchObject({
      status: "completed",
      configuration: ["z"],
      value: "z",
      output: 42,
      emitted: [{ type: "bye", data: 2 }],
    });
    expect(lines(done)[2]).toMatchObject({
      seq: 2,
      outcome: "ignored",
      reason: "final",
      status: "completed",
      configuration: ["z"],
    });
  });

  test("a failed step keeps the state and says why; a failed start is `failed` with no configuration; both exit 0", async () => {
    const spins = {
      a: { on: { go: "b" } },
      b: { always: [{ target: "c" }] },
      c: { always: [{ target: "b" }] },
    };
    const loop = chart("loop.json", { initial: "a", settings: { microstepsMax: 50 }, states: spins });
    const step = await lockstep(["run", loop, "--events", "-", "--json"], '{"type":"go"}\n');
    expect(step.code).toBe(0);
    expect(lines(step)[1]).toMatchObject({ outcome: "failed", status: "running", configuration: ["a"] });
    expect(lines(step)[1]?.error?.message).toBeTruthy();
    const atStart = chart("loop-at-start.json", {
      initial: "b",
      settings: { microstepsMax: 50 },
      states: spins,
    });
    const start = await lockstep(["run", atStart, "--json"]);
    expect(start.code).toBe(0);
    expect(lines(start)).toMatchObject([{ seq: 1, outcome: "failed", status: "failed", configuration: [] }]);
  });

  test("--trace adds microsteps with verdicts", async () => {
    const done = await lockstep(
      ["run", microwave, "--json", "--trace", "--events", "-"],
      '{"type":"turn.on"}\n',
    );
    const steps = lines(done)[1]?.microsteps ?? [];
    expect(steps.map(({ event, taken }) => [event?.type ?? null, taken.length])).toEqual([
      ["turn.on", 1],
      [null, 1],
      // The last look for an eventless transition finds none.
      [null, 0],
    ]);
    expect(steps[1]?.candidates).toContainEqual(
      expect.objectContaining({ guard: "In('closed')", verdict: "true", selected: true }),
    );
  });

  test("--stubs answers invocations", async () => {
    const calls = chart("calls.json", {
      initial: "a",
      states: {
        a: {
          invoke: {
            src: "fetch",
            onDone: { target: "b", actions: { assign: { got: "event.output.n" } } },
            onError: "c",
          },
        },
        b: {},
        c: {},
      },
    });
    const stubs = file("stubs.json", '{"fetch": [{"after": "2s", "output": {"n": 7}}]}');
    const done = await lockstep(["run", calls, "--json", "--stubs", stubs, "--drain"]);
    expect(lines(done)[1]).toMatchObject({ configuration: ["b"], context: { got: 7 } });
  });

  test("a bad input line ends with 2 and its number, after the lines before it were played", async () => {
    const cases: [string, RegExp][] = [
      ['{"type":"turn.on"}\n\nnot json\n', /Line 3 of the input.*not JSON/s],
      ['{"type":"turn.on"}\n{"typo":"x"}\n', /Line 2.*unknown key "typo"/s],
      ['{"type":"turn.on"}\n{"advance":"soon"}\n', /Line 2.*no duration/s],
      ['{"type":"turn.on"}\n{"advance":-1}\n', /Line 2.*no duration/s],
      ['{"type":"turn.on"}\n{"type":""}\n', /Line 2.*"type" must be a text/s],
      ['{"type":"turn.on"}\n[1]\n', /Line 2.*must be an object/s],
      [`{"type":"turn.on"}\n{"type":"x","data":"${"y".repeat(300 * 1024)}"}\n`, /Line 2.*characters/s],
    ];
    for (const [input, message] of cases) {
      const done = await lockstep(["run", microwave, "--events", "-", "--json"], input);
      expect(done.code).toBe(2);
      expect(done.err).toMatch(message);
      expect(lines(done).map(({ seq }) => seq)).toEqual([1, 2]);
    }
  });

  test("a chart that cannot be loaded ends with 1 and its place on stderr, nothing on stdout", async () => {
    const cases: [string, RegExp][] = [
      [
        file("bad.scxml", "<scxml xmlns='http://www.w3.org/2005/07/scxml'>\n<state></scxml>"),
        /bad\.scxml:2:\d+: error bad-xml/,
      ],
      [file("bad.json", '{"lockstep": 1,\n  oops}'), /bad\.json:2:3: error bad-json/],
      [
        file("latin1.scxml", Buffer.from([0x3c, 0x61, 0x0a, 0xe9, 0x3e])),
        /latin1\.scxml:2:1: error bad-encoding/,
      ],
      [chart("target.json", { initial: "a", states: { a: { on: { go: "nowhere" } } } }), /nowhere/],
      [join(folder, "missing.json"), /no such file/],
    ];
    for (const [path, message] of cases) {
      const done = await lockstep(["run", path, "--json"]);
      expect({ path, code: done.code, out: done.out }).toEqual({ path, code: 1, out: "" });
      expect(done.err).toMatch(message);
    }
  });

  test("a CEL text that does not parse fails when it is reached, though check calls it an error", async () => {
    const late = chart("late.json", {
      initial: "a",
      states: { a: { on: { go: { target: "b", guard: "1 +" }, "error.execution": "c" } }, b: {}, c: {} },
    });
    const done = await lockstep(["run", late, "--events", "-", "--json"], '{"type":"go"}\n');
    expect(lines(done)[1]).toMatchObject({ outcome: "ignored", reason: "guard-error", configuration: ["c"] });
    expect((await lockstep(["check", late])).code).toBe(1);
  });

  test("a data file is read from the chart's own folder, never from outside it", async () => {
    file("numbers.json", "[1, 2]");
    const read = (src: string): string =>
      file(
        "src.scxml",
        `<scxml xmlns="http://www.w3.org/2005/07/scxml" datamodel="ecmascript"><datamodel><data id="x" src="${src}"/></datamodel><state id="a"/></scxml>`,
      );
    const x = async (src: string): Promise<unknown> =>
      (lines(await lockstep(["run", read(src), "--json"]))[0]?.context as { x: unknown }).x;
    expect(await x("file:numbers.json")).toEqual([1, 2]);
    expect(await x("/etc/hostname")).toBeNull();
    expect(await x("../../etc/hostname")).toBeNull();
    expect(await x("file:///etc/hostname")).toBeNull();
  });

  test("a reader that closes the pipe early is no error", async () => {
    const many = '{"type":"time"}\n'.repeat(20_000);
    const child = spawn(process.execPath, [bin, "run", microwave, "--events", "-", "--json"], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    let err = "";
    child.stderr.on("data", (text: Buffer) => (err += text.toString()));
    child.stdin.on("error", () => undefined).end(many);
    child.stdout.once("data", () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});

describe("check", () => {
  test("good charts exit 0; one with errors makes it 1, each diagnostic with its place", async () => {
    expect(await lockstep(["check", microwave])).toMatchObject({
      code: 0,
      out: expect.stringContaining("ok (scxml)") as string,
    });
    const bad = file(
      "bad-target.scxml",
      '<scxml xmlns="http://www.w3.org/2005/07/scxml"><state id="a"/>\n  <state id="b"><transition event="e" target="zzz"/></state></scxml>',
    );
    const done = await lockstep(["check", microwave, bad]);
    expect(done.code).toBe(1);
    expect(done.out).toMatch(/bad-target\.scxml:2:3: error \S+: .*zzz/);
  });

  test("--json gives one line per file", async () => {
    const done = await lockstep(["check", "--json", microwave, join(folder, "missing.json")]);
    expect(done.code).toBe(1);
    const [good, missing] = done.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { ok: boolean; diagnostics: { code: string }[] });
    expect(good).toMatchObject({ ok: true, diagnostics: [] });
    expect(missing).toMatchObject({ ok: false, diagnostics: [{ code: "unreadable" }] });
  });
});

describe("convert", () => {
  test("SCXML to lockstep JSON that runs the same, and again to the same text", async () => {
    const [once, twice] = [join(folder, "once.json"), join(folder, "twice.json")];
    expect(await lockstep(["convert", microwave, once])).toEqual({ code: 0, out: "", err: "" });
    expect(await lockstep(["convert", once, twice])).toMatchObject({ code: 0 });
    expect(readFileSync(twice, "utf8")).toBe(readFileSync(once, "utf8"));
    const events = join(root, "examples/microwave.events.jsonl");
    const [a, b] = await Promise.all(
      [microwave, once].map((path) => lockstep(["run", path, "--events", events, "--json"])),
    );
    expect(b?.out).toBe(a?.out);
  });

  test("losses go to stderr, the chart is written all the same", async () => {
    const from = file(
      "script.scxml",
      '<scxml xmlns="http://www.w3.org/2005/07/scxml"><script>x</script><state id="a"/></scxml>',
    );
    const to = join(folder, "script.json");
    const done = await lockstep(["convert", from, to]);
    expect(done).toMatchObject({ code: 0, out: "" });
    expect(done.err).toMatch(/script\.scxml:1:\d+: lost: <script>/);
    expect(existsSync(to)).toBe(true);
  });

  test("to SCXML and back it is the same text", async () => {
    const [once, scxml, again] = ["s1.json", "s2.scxml", "s3.json"].map((name) => join(folder, name));
    if (once === undefined || scxml === undefined || again === undefined) throw new Error("three names");
    for (const [from, to] of [
      [microwave, once],
      [once, scxml],
      [scxml, again],
    ] as const)
      expect(await lockstep(["convert", from, to])).toEqual({ code: 0, out: "", err: "" });
    expect(readFileSync(again, "utf8")).toBe(readFileSync(once, "utf8"));
  });

  test("to XState JSON: what it cannot say goes to stderr, exit 0", async () => {
    const to = join(folder, "out.xstate.json");
    const done = await lockstep(["convert", microwave, to]);
    expect(done).toMatchObject({ code: 0, out: "" });
    expect(done.err).toContain(`${to}: lost: the setting \`scxmlDomain\` is left out`);
    expect(JSON.parse(readFileSync(to, "utf8"))).toMatchObject({ queryLanguage: "cel" });
    expect(await lockstep(["check", to])).toMatchObject({ code: 0 });
  });

  test("to a TypeScript module for XState", async () => {
    const to = join(folder, "out.ts");
    const done = await lockstep(["convert", microwave, to]);
    expect(done).toMatchObject({ code: 0, out: "" });
    expect(done.err).toContain(`${to}: lost: XState stops at an error`);
    expect(readFileSync(to, "utf8")).toMatch(/import \{ cel \} from "lockstep\/cel";[^]*\.createMachine\(/);
  });

  test("to Mermaid and back: a chart again, what it cannot say on stderr", async () => {
    const to = join(folder, "out.mmd");
    const done = await lockstep(["convert", microwave, to]);
    expect(done).toMatchObject({ code: 0, out: "" });
    expect(done.err).toContain(`${to}: lost: \`settings\` is left out`);
    expect(readFileSync(to, "utf8")).toMatch(/^stateDiagram-v2\n/);
    expect(await lockstep(["check", to])).toMatchObject({ code: 0 });
    expect((await lockstep(["run", to, "--json"])).code).toBe(0);
  });

  test("IN with errors: exit 1, OUT untouched, nothing left beside it", async () => {
    const to = file("keep.json", "kept");
    const before = readdirSync(folder).length + 1;
    const bad = chart("bad-in.json", { initial: "a", states: { a: { on: { go: "nowhere" } } } });
    expect(await lockstep(["convert", bad, to])).toMatchObject({ code: 1 });
    expect(readFileSync(to, "utf8")).toBe("kept");
    expect(readdirSync(folder).length).toBe(before);
  });

  test.each(["out.js", "out.gif", "out.txt", "out"])("%s names no format: exit 2", async (name) => {
    const done = await lockstep(["convert", microwave, join(folder, name)]);
    expect(done.code).toBe(2);
    expect(done.err).toContain("Nothing was written");
    expect(existsSync(join(folder, name))).toBe(false);
  });

  test("a folder that is not there: exit 2", async () => {
    const done = await lockstep(["convert", microwave, join(folder, "no/such/out.json")]);
    expect(done.code).toBe(2);
    expect(done.err).toContain(`there is no folder ${join(folder, "no/such")}`);
    expect(done.err).not.toContain("help");
  });
});

describe("test", () => {
  const suite = (name: string, tests: object): string => {
    chart(`${name}.json`, { initial: "a", states: { a: { after: { "1s": "b" } }, b: {} } });
    return file(`${name}.test.json`, JSON.stringify(tests));
  };
  const step = (configuration: string[]): object => ({ advance: "1s", expect: { configuration } });

  test("plays the tests beside a chart, named by either file, and says where one fails", async () => {
    const tests = suite("pair", [
      { name: "moves on", steps: [step(["b"])] },
      { name: "stays", steps: [step(["a"])] },
    ]);
    const done = await lockstep(["test", tests]);
    expect(done).toMatchObject({ code: 1, err: "" });
    expect(done.out).toContain("moves on\nFAILED");
    expect(done.out).toContain('step 1, configuration[0]: expected "a", found "b"\n1 passed, 1 failed');
    const json = await lockstep(["test", join(folder, "pair.json"), "--json"]);
    expect(json.code).toBe(1);
    expect(
      json.out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([
      { name: "moves on", ok: true },
      { name: "stays", ok: false, step: 1, at: "configuration[0]", expected: "a", found: "b" },
    ]);
  });

  test("exit 0 when all pass; 2 for a file that is no test; 1 for a chart that cannot be run", async () => {
    const good = suite("good", { name: "moves on", steps: [step(["b"])] });
    expect(await lockstep(["test", good])).toMatchObject({ code: 0, err: "" });
    const bad = suite("bad", { name: "x", steps: [{ go: 1 }] });
    expect(await lockstep(["test", good, bad])).toMatchObject({ code: 2, out: "" });
    chart("broken.json", { initial: "a", states: { a: { on: { go: "nowhere" } } } });
    const broken = file("broken.test.json", JSON.stringify({ name: "x", steps: [step(["b"])] }));
    const done = await lockstep(["test", broken]);
    expect(done.code).toBe(1);
    expect(done.err).toContain("cannot be run");
  });
});

describe("paths", () => {
  const order = {
    initial: "open",
    tasks: { ship: {} },
    states: {
      open: { on: { pay: "paid" }, after: { "1h": "gone" } },
      paid: { invoke: { src: "ship", onDone: "gone", onError: "open" } },
      gone: { type: "final" },
      lost: { on: { found: "open" } },
    },
  };
  test("in words, with what no path takes", async () => {
    const done = await lockstep(["paths", chart("walk.json", order)]);
    expect(done.code).toBe(0);
    expect(done.out).toContain("to paid\n   pay → paid\n");
    expect(done.out).toContain("to gone\n   wait 3600000 ms → gone");
    expect(done.err).toContain("not taken: lost#on/found/0");
  });
  test("as tests that `lockstep test` passes", async () => {
    const walked = chart("walked.json", order);
    for (const kind of ["shortest", "simple", "coverage"]) {
      const found = await lockstep(["paths", walked, "--kind", kind, "--json"]);
      file("walked.test.json", found.out);
      const done = await lockstep(["test", walked]);
      expect(done.out).toContain(`${(JSON.parse(found.out) as unknown[]).length} passed, 0 failed`);
      expect(done.code).toBe(0);
      rmSync(join(folder, "walked.test.json"));
    }
  });
  test("a kind that there is not is wrong use", async () => {
    expect(await lockstep(["paths", microwave, "--kind", "longest"])).toMatchObject({ code: 2, out: "" });
  });
});

describe("the command itself", () => {
  test.each([
    [[], "Say what to do"],
    [["fly"], 'There is no "lockstep fly"'],
    [["run"], "exactly one FILE"],
    [["run", "a", "b"], "exactly one FILE"],
    [["run", "a", "--nope"], "--nope"],
    [["run", "a", "--until", "soon"], "no duration"],
    [["run", microwave, "--events", "/no/such/file"], "no such file"],
    [["run", microwave, "--stubs", "/no/such/file"], "no such file"],
    [["check"], "at least one FILE"],
    [["test"], "at least one FILE"],
    [["test", microwave], "has no tests"],
    [["convert", "a"], "IN and OUT"],
  ])("lockstep %j: exit 2 with a hint", async (args, message) => {
    const done = await lockstep(args);
    expect(done).toMatchObject({ code: 2, out: "" });
    expect(done.err).toContain(message);
  });

  test("help names every verb", async () => {
    const done = await lockstep(["help"]);
    expect(done.code).toBe(0);
    for (const verb of ["check", "convert", "run", "test"]) expect(done.out).toContain(`lockstep ${verb}`);
  });

  test("a verb's --help, -h or help before it prints what the help tells of that verb alone", async () => {
    const whole = (await lockstep(["help"])).out;
    const verbs = new Set([...whole.matchAll(/^ {2}lockstep (\S+)/gm)].map((found) => found[1] ?? ""));
    expect(verbs.size).toBeGreaterThanOrEqual(15);
    for (const verb of verbs) {
      const told = usageOf(verb) ?? "";
      const own = told.split("\n").filter((line) => /^ {2}\S/.test(line));
      for (const line of own) expect(line).toMatch(new RegExp(`^  lockstep ${verb} `));
      expect(own.length).toBeGreaterThan(0);
      expect(told).not.toContain("as above");
    }
    for (const call of [
      ["batch", "--help"],
      ["batch", "-h"],
      ["batch", "suspend", "a", "--help"],
      ["help", "batch"],
    ]) {
      expect(await lockstep(call)).toEqual({ code: 0, out: usageOf("batch"), err: "" });
    }
    expect(usageOf("batch")).toContain("--url http://127.0.0.1:3000");
    expect(await lockstep(["--help"])).toMatchObject({ code: 0, out: whole });
    expect(await lockstep(["dance", "--help"])).toMatchObject({ code: 2, out: "" });
    // What stands behind -- is a file.
    expect((await lockstep(["check", "--", "--help"])).out).toContain("--help: error unreadable");
  });

  test("starts in under 0.3 s, or five times Node's own start where the machine is busy", async () => {
    const best = async (command: string[]): Promise<number> => {
      let least = Infinity;
      for (let round = 0; round < 5; round++) {
        const began = performance.now();
        execFileSync(process.execPath, command, { stdio: "ignore" });
        least = Math.min(least, performance.now() - began);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return least;
    };
    const node = await best(["-e", "0"]);
    expect(await best([bin, "run", microwave, "--json"])).toBeLessThan(Math.max(300, 5 * node));
  });

  test("loads no server, database or screen code", () => {
    const bundle = readdirSync(join(root, "dist/chunks"))
      .map((name) => readFileSync(join(root, "dist/chunks", name), "utf8"))
      .join("");
    for (const word of ["better-sqlite3", "@prisma", "next/dist", "react-dom"])
      expect(bundle).not.toContain(word);
  });
});
