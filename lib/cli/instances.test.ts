/**
 * `lockstep instances` against a real server, its verb called as the command calls it.
 */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handle } from "@/lib/api/handle";
import { serveHttp, type TestServer } from "@/lib/testing/http-server";
import { counter, freshRuntime, local, publish, publishNext, type TestRuntime } from "@/lib/testing/runtime";
import { instances } from "./instances";
import { UsageError } from "./usage";

let at: TestRuntime;
let server: TestServer;
/** Does what it is asked, then breaks the connection. */
let answerIsLost: boolean;
let said: { out: string; err: string };
beforeEach(async () => {
  at = await freshRuntime("sqlite");
  answerIsLost = false;
  server = await serveHttp(async (request, path) => {
    const answer = await handle(request, path, () => Promise.resolve(at.runtime));
    if (answerIsLost) throw new Error("the connection is broken on purpose");
    return answer;
  });
  await publish(at.runtime, "counter", counter);
  await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
  said = { out: "", err: "" };
  const listen = (to: "out" | "err") => (text: unknown, done?: unknown) => {
    said[to] += String(text);
    if (typeof done === "function") (done as () => void)();
    return true;
  };
  vi.spyOn(process.stdout, "write").mockImplementation(listen("out"));
  vi.spyOn(process.stderr, "write").mockImplementation(listen("err"));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await server.close();
  await at.end();
});
const run = async (...args: string[]) => {
  said = { out: "", err: "" };
  return instances([...args, "--url", server.baseUrl]);
};

test("instances are listed, suspended, resumed, forked and migrated from the command line", async () => {
  expect(await run()).toBe(0);
  expect(said.out).toBe("c\trunning\tcounting\tcounter v1\t#1\n");
  expect(await run("suspend", "c", "--reason", "mending")).toBe(0);
  expect(said.out).toBe("c is suspended, #2\n");
  expect(await run("suspend", "c", "--reason", "mending")).toBe(0);
  expect(said.out).toBe("c was already suspended, #2\n");
  expect(await run("list", "--status", "suspended", "--json")).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ id: "c", status: "suspended" });
  expect(await run("resume", "c", "--reason", "mended")).toBe(0);
  expect(await run("fork", "c", "--seq", "1", "--reason", "to try")).toBe(0);
  expect(said.out).toMatch(/^counter-\w+\n$/);
  expect(await run("migrate", "c", "--version", "1", "--dry-run", "--reason", "look")).toBe(0);
  expect(said.out).toBe("c ok\n  counting → counting\n");
});

test("what the server refuses is said in its words; a missing reason never reaches it", async () => {
  expect(await run("redrive", "c", "--reason", "r")).toBe(1);
  expect(said.err).toBe("lockstep: Instance c is running: redrive is for one that is failed, stuck.\n");
  await expect(run("terminate", "c")).rejects.toThrow("needs --reason");
  await expect(run("dance", "c")).rejects.toThrow('There is no "lockstep instances dance"');
  await expect(run("dance")).rejects.toThrow('There is no "lockstep instances dance"');
  expect((await at.runtime.getInstance(local, { instanceId: "c" })).status).toBe("running");
});

test("a dry run of a migration tells all that would go, and ends as the migration would", async () => {
  const first = { lockstep: 1, initial: "a", states: { a: { after: { "1h": "b" } }, b: {} } };
  await publish(at.runtime, "move", first);
  await at.runtime.startInstance(local, { chartId: "move", id: "m" });
  await publishNext(at.runtime, "move", { ...first, context: { tries: 0 }, states: { a: {}, b: {} } });
  await publishNext(at.runtime, "move", { ...first, initial: "b", states: { b: {} } });
  const migrate = (version: number, ...more: string[]) =>
    run("migrate", "m", "--version", String(version), "--reason", "r", ...more);
  expect(await migrate(2, "--dry-run")).toBe(0);
  expect(said.out.split("\n")).toEqual([
    "m ok",
    "  a → a",
    "  timer 1h is dropped",
    "  context.tries is added",
    "",
  ]);
  expect(await migrate(3, "--dry-run")).toBe(1);
  expect(said.out).toMatch(/^m needs-mapping\n {2}a → \? {2}needs-mapping {2}./);
  expect(await migrate(3, "--dry-run", "--json")).toBe(1);
  expect(JSON.parse(said.out)).toMatchObject({ changed: false, plan: { verdict: "needs-mapping" } });
  expect(await migrate(3)).toBe(1);
  expect(await migrate(2)).toBe(0);
  expect(said.out).toContain("is of version 2 now, #2\n  a → a\n  timer 1h is dropped");
});

test("an instance is started with what the call takes; its id is printed", async () => {
  await publishNext(at.runtime, "counter", { ...counter, context: { count: 5 } });
  const told = ["--id", "n", "--version", "1", "--business-key", "B", "--label", "a=b=c", "--priority", "0"];
  expect(await run("start", "counter", ...told, "--input", '{"total": 40}')).toBe(0);
  expect(said.out).toBe("n\n");
  expect(await at.runtime.getInstance(local, { instanceId: "n" })).toMatchObject({
    chartId: "counter",
    version: 1,
    businessKey: "B",
    labels: { a: "b=c" },
    priority: 0,
  });
  expect(await run("list", "--label", "a=b=c")).toBe(0);
  expect(said.out).toBe("n\trunning\tcounting\tcounter v1\t#1\n");
  expect(await run("list", "--label", "a=b=c", "--label", "a=c")).toBe(0);
  expect(said.out).toBe("");
  expect(await run("list", "--chart", "counter", "--index", "count=0")).toBe(1);
  expect(said.err).toContain("It declares none (settings.index)");
  expect((await at.runtime.getLogEntry(local, { instanceId: "n", seq: 1 })).data).toEqual({ total: 40 });
  expect(await run("start", "counter", "--json")).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ version: 2, status: "running", context: { count: 5 } });
  expect(await run("start", "counter", "--id", "n")).toBe(1);
  expect(said).toMatchObject({ out: "", err: expect.stringMatching(/^lockstep: .*\bn\b/) as string });
});

test("a send tells what became of the event: applied, ignored, queued, or why not", async () => {
  expect(await run("send", "c", "add", "--expected-seq", "1", "--data", '["x", null]')).toBe(0);
  expect(said.out).toBe("add was applied, #2: handled; c is running in counting\n");
  expect((await at.runtime.getLogEntry(local, { instanceId: "c", seq: 2 })).data).toEqual(["x", null]);
  expect(await run("send", "c", "nonsense")).toBe(0);
  expect(said.out).toBe("nonsense was applied, #3: ignored (no-handler); c is running in counting\n");
  expect(await run("send", "c", "add", "--expected-seq", "1")).toBe(1);
  expect(said).toMatchObject({ out: "", err: expect.stringMatching(/^lockstep: .*seq/) as string });
  expect(await run("suspend", "c", "--reason", "r", "--expected-seq", "2")).toBe(1);
  expect(await run("suspend", "c", "--reason", "r", "--expected-seq", "3")).toBe(0);
  expect(await run("send", "c", "add", "--wait-ms", "0")).toBe(0);
  expect(said.out).toMatch(/^add is queued as \S+, 1 pending; c is suspended in counting\n$/);
  expect(await run("resume", "c", "--reason", "r")).toBe(0);
  expect(await run("send", "c", "finish", "--json")).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ state: "applied", outcome: "moved", status: "completed" });
  expect(await run("send", "c", "add")).toBe(1);
  expect(said.err).toBe("lockstep: Instance c has ended (completed); it takes no more events.\n");
});

test("a send under a lock goes with the fence that the lock has now", async () => {
  const lock = { key: "zone:1", session: "s", holder: "s" };
  await at.runtime.acquireLock(local, lock);
  const send = (fence: number) =>
    run("send", "c", "add", "--fences", JSON.stringify([{ key: "zone:1", session: "s", fence }]));
  expect(await send(1)).toBe(0);
  expect(await send(2)).toBe(1);
  expect(said.err).toContain("zone:1");
  expect(await run("send", "c", "add", "--fences", "7")).toBe(1);
  expect(said.err).toContain("fences");
});

test("I4: a write with the caller's key is done once; one of unknown outcome tells the key it had", async () => {
  for (const text of ["was applied", "was applied before"]) {
    expect(await run("send", "c", "add", "--idempotency-key", "k")).toBe(0);
    expect(said.out).toBe(`add ${text}, #2: handled; c is running in counting\n`);
  }
  expect(await run("send", "c", "finish", "--idempotency-key", "k")).toBe(1);
  expect(said.err).toContain("Idempotency-Key k was used");

  answerIsLost = true;
  expect(await run("start", "counter")).toBe(1);
  answerIsLost = false;
  const key = /--idempotency-key (\S+)\n$/.exec(said.err)?.[1] ?? "";
  expect(await run("start", "counter", "--idempotency-key", key)).toBe(0);
  const { items } = await at.runtime.listInstances(local, {});
  expect(items.map(({ id }) => id).sort()).toEqual(["c", said.out.trim()].sort());
});

test("an instance is put back to an earlier seq, and deleted; deleted again by the same call it was so before", async () => {
  await run("send", "c", "add");
  await run("send", "c", "add");
  expect(await run("reset", "c", "--seq", "2", "--reason", "too many")).toBe(0);
  expect(said.out).toBe("c is as it was at #2: running in counting, #4\n");
  expect((await at.runtime.getInstance(local, { instanceId: "c" })).context).toEqual({ count: 1 });
  expect(await run("reset", "c", "--seq", "9", "--reason", "r")).toBe(1);
  expect(await run("fork", "c", "--id", "d", "--seq", "3", "--later-events", "--reason", "r")).toBe(0);
  expect(said.out).toBe("d\n");
  expect(await run("delete", "c", "--expected-seq", "3")).toBe(1);
  expect(said.err).toMatch(/at seq 4, not at the expected 3/);
  for (const told of ["is deleted", "was deleted before"]) {
    expect(await run("delete", "c", "--expected-seq", "4", "--idempotency-key", "k")).toBe(0);
    expect(said.out).toBe(`c ${told}, #5\n`);
  }
  expect(await run("delete", "c")).toBe(1);
  expect(said.err).toBe("lockstep: There is no instance c.\n");
});

test("timers of a reset's moment run again when that is asked for, and only then", async () => {
  const timed = {
    lockstep: 1,
    initial: "a",
    states: { a: { after: { "1h": "b" }, on: { go: "b" } }, b: {} },
  };
  await publish(at.runtime, "timed", timed);
  await run("start", "timed", "--id", "t");
  await run("send", "t", "go");
  const timers = async () => (await at.runtime.getInstance(local, { instanceId: "t" })).timers.length;
  expect(await run("reset", "t", "--seq", "1", "--reason", "r")).toBe(0);
  expect(await timers()).toBe(0);
  expect(await run("reset", "t", "--seq", "1", "--rearm-timers", "--reason", "r")).toBe(0);
  expect(await timers()).toBe(1);
});

test.each([
  [["start"], "instances start needs a chart's id."],
  [["start", "counter", "c"], "instances start takes one id."],
  [["start", "counter", "--label", "a"], "--label takes KEY=VALUE, not a."],
  [["start", "counter", "--version", "two"], "--version takes a whole number from 1 on, not two."],
  [["start", "counter", "--reason", "r"], "instances start takes no --reason."],
  [["send"], "instances send needs an instance's id and an event's type"],
  [["send", "c"], "instances send needs an instance's id and an event's type"],
  [["send", "c", "add", "1"], "what it carries is --data JSON"],
  [["send", "c", "add", "--wait-ms", "5s"], "--wait-ms takes a whole number from 0 on, not 5s."],
  [["reset", "c", "--reason", "r"], "instances reset needs --seq"],
  [["reset", "c", "--seq", "1"], "instances reset needs --reason"],
  [["delete"], "instances delete needs an id."],
  [["state", "c", "--expected-seq", "0"], "instances state takes no --expected-seq."],
  [["list", "c"], "instances list takes no id"],
  [["list", "--index", "count=0"], "--index needs --chart"],
  [
    ["send", "c", "add", "--data", "{by: 1}"],
    '--data takes JSON. At line 1, column 2: expected a key in double quotes, found "b". What was read: {by: 1}',
  ],
  [["start", "counter", "--input", ""], "--input takes JSON. At line 1, column 1: "],
])("lockstep instances %j is wrong usage, and nothing is asked of the server", async (args, message) => {
  const before = await at.runtime.listInstances(local, {});
  await expect(run(...args)).rejects.toThrow(UsageError);
  await expect(run(...args)).rejects.toThrow(message);
  expect(await at.runtime.listInstances(local, {})).toEqual(before);
});

test("what the server refuses of an option is told by the option's name", async () => {
  for (const [args, words] of [
    [["send", "c", "add", "--wait-ms", "99999"], "lockstep: --wait-ms: Too big"],
    [["start", "counter", "--priority", "9"], "lockstep: --priority: Too big"],
    [["start", "coun ter"], "lockstep: CHART: use letters"],
    [["start", "counter", "--idempotency-key", "ü".repeat(300)], "lockstep: --idempotency-key: "],
    [["list", "--chart", "coun ter"], "lockstep: --chart: use letters"],
    [["list", "--status", "dancing"], "lockstep: --status: Invalid option"],
    [["show", "a b"], "lockstep: ID: use letters"],
    [["send", "c", "done.state.x"], 'lockstep: EVENT "done.state.x" is made by Lockstep alone'],
    [["suspend", "c", "--reason", "r".repeat(1_001)], "lockstep: --reason: Too big"],
    [["send", "c", "add", "--fences", '[{"key": "k", "session": "s"}]'], "lockstep: --fences.0.fence: "],
  ] as const) {
    expect(await run(...args)).toBe(1);
    expect(said).toMatchObject({ out: "", err: expect.stringContaining(words) as string });
  }
});

test("its state at a seq, its log, a message and its dead letters are read, and a letter is sent again", async () => {
  for (const by of [2, 3]) await run("send", "c", "add", "--data", JSON.stringify({ by }));
  expect(await run("state", "c", "--seq", "2", "--json")).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ seq: 2, context: { count: 1 }, hashMatches: true });
  expect(await run("state", "c")).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ seq: 3, context: { count: 2 } });
  expect(await run("state", "c", "--seq", "9")).toBe(1);

  expect(await run("log", "c")).toBe(0);
  expect(said.out.split("\n").map((line) => line.split("\t").toSpliced(1, 1).join(" "))).toEqual([
    "#3 event add handled local",
    "#2 event add handled local",
    "#1 start start moved local counting",
    "",
  ]);
  expect(await run("log", "c", "--limit", "1")).toBe(0);
  expect(said.out).toMatch(/^#3\t[^\n]*\n$/);
  expect(await run("log", "c", "--seq", "2", "--json")).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ seq: 2, data: { by: 2 } });

  await at.runtime.suspendInstance(local, { instanceId: "c", reason: "test" });
  const sent = await at.runtime.sendEvent(local, { instanceId: "c", type: "add" });
  expect(await run("message", "c", sent.messageId)).toBe(0);
  expect(said.out).toMatch(/ is queued as m-\w+, 1 pending; c is suspended in counting\n$/);
  await at.runtime.terminateInstance(local, { instanceId: "c", reason: "test" });
  expect(await run("letters", "c")).toBe(0);
  expect(said.out).toMatch(new RegExp(`^${sent.messageId}\t.*\tadd\tinstance-ended\t-\n$`));
  expect(await run("retry", "c", sent.messageId)).toBe(1);
  expect(said.err).toContain("has ended");
  await expect(run("message", "c")).rejects.toThrow("needs an instance's id and a message's id");
});

test("a list is narrowed by state, id, business key and parent", async () => {
  await at.runtime.startInstance(local, { chartId: "counter", id: "d", businessKey: "order-7" });
  for (const filter of [
    ["--prefix", "d"],
    ["--business-key", "order-7"],
  ]) {
    expect(await run(...filter)).toBe(0);
    expect(said.out).toBe("d\trunning\tcounting\tcounter v1\t#1\n");
  }
  expect(await run("--state", "counting", "--chart", "counter")).toBe(0);
  expect(said.out.split("\n")).toHaveLength(3);
  expect(await run("--parent", "c")).toBe(0);
  expect(said.out).toBe("");
});
