import { expect, test, vi } from "vitest";
import { LockstepError } from "@/lib/base/errors";
import { endpoints, type EndpointName } from "@/lib/contract/endpoints";
import { handle, type Verbs } from "./handle";

/** Verbs that record what reaches them: here only the door is under test. */
function recordingVerbs(result: unknown = {}) {
  const calls: { name: string; args: unknown }[] = [];
  const verbs = Object.fromEntries(
    Object.keys(endpoints).map((name) => [
      name,
      (_actor: unknown, args: unknown) => {
        calls.push({ name, args });
        return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
      },
    ]),
  ) as unknown as Verbs;
  return { calls, open: () => Promise.resolve(verbs) };
}

const host = { host: "127.0.0.1:3000" };
const json = { ...host, "content-type": "application/json" };
const call = (
  verbs: ReturnType<typeof recordingVerbs>,
  method: string,
  path: string,
  init: { headers?: Record<string, string>; body?: string } = {},
) =>
  handle(
    new Request(`http://127.0.0.1:3000/api/v1${path}`, {
      method,
      headers: init.headers ?? (init.body === undefined ? host : json),
      ...(init.body === undefined ? {} : { body: init.body }),
    }),
    path.split("?")[0] ?? "",
    verbs.open,
  );
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; message: string; details: Record<string, unknown> } })
    .error;

test("path parameters, body and idempotency key reach the verb as one argument", async () => {
  const verbs = recordingVerbs({ state: "applied" });
  const response = await call(verbs, "POST", "/instances/agv-07/events", {
    headers: { ...json, "idempotency-key": "k1" },
    body: JSON.stringify({ type: "ARRIVED", data: { zone: "Z-14" }, expectedSeq: 4 }),
  });
  expect(response.status).toBe(200);
  expect(verbs.calls).toEqual([
    {
      name: "sendEvent",
      args: {
        instanceId: "agv-07",
        type: "ARRIVED",
        data: { zone: "Z-14" },
        expectedSeq: 4,
        idempotencyKey: "k1",
      },
    },
  ]);
});

test("a lock key keeps its colon and slash through the path", async () => {
  const verbs = recordingVerbs();
  await call(verbs, "GET", `/locks/${encodeURIComponent("zone:Z/14")}`);
  expect(verbs.calls[0]).toEqual({ name: "getLock", args: { key: "zone:Z/14" } });
});

test("labels may be given several times and are a list; other filters are given once", async () => {
  const verbs = recordingVerbs({ items: [], nextCursor: null });
  for (const query of ["label=a:b", "label=a:b&status=failed&label=c:d:e"]) {
    expect((await call(verbs, "GET", `/instances?${query}`)).status).toBe(200);
  }
  expect(verbs.calls.map(({ args }) => args)).toEqual([
    { label: ["a:b"] },
    { label: ["a:b", "c:d:e"], status: "failed" },
  ]);
  for (const query of ["label=a", "label=:b", "status=failed&status=failed", `label=${"k".repeat(400)}:v`]) {
    const refused = await call(verbs, "GET", `/instances?${query}`);
    expect([refused.status, (await errorOf(refused)).code], query).toEqual([400, "bad-request"]);
  }
});

test("a message that is not stepped yet answers 202", async () => {
  const response = await call(recordingVerbs({ state: "queued" }), "POST", "/instances/a/events", {
    body: '{"type":"go"}',
  });
  expect(response.status).toBe(202);
});

test.each([
  ["an event", "/instances/a/events", '{"type":"go"}'],
  ["a dead letter", "/instances/a/dead-letters/d/retry", "{}"],
])(
  "who prefers an answer at once to %s gets it before the step, and is told so",
  async (_what, path, body) => {
    const verbs = recordingVerbs({ state: "queued", instanceId: "a", messageId: "m" });
    const headers = { ...json, prefer: "respond-async" };
    const response = await call(verbs, "POST", path, { headers, body });
    expect(verbs.calls).toMatchObject([{ args: { respondAsync: true } }]);
    expect([
      response.status,
      response.headers.get("preference-applied"),
      response.headers.get("location"),
    ]).toEqual([202, "respond-async", "/api/v1/instances/a/messages/m"]);
  },
);

test("of several events that wait, the last one's message is where the outcome is told", async () => {
  const verbs = recordingVerbs({ state: "queued", instanceId: "a", messageIds: ["m.1", "m"], results: [] });
  const response = await call(verbs, "POST", "/instances/a/events/batch", {
    headers: { ...json, prefer: "respond-async" },
    body: '{"events":[{"type":"go"},{"type":"go"}]}',
  });
  expect(verbs.calls).toMatchObject([{ args: { respondAsync: true } }]);
  expect([response.status, response.headers.get("location")]).toEqual([
    202,
    "/api/v1/instances/a/messages/m",
  ]);
});

test("a DELETE comes with a body or without; what is no JSON is refused", async () => {
  const verbs = recordingVerbs();
  await call(verbs, "DELETE", "/instances/a");
  await call(verbs, "DELETE", "/instances/a", { headers: json });
  await call(verbs, "DELETE", "/instances/a", { body: '{"expectedSeq":4}' });
  expect(verbs.calls.map(({ args }) => args)).toEqual([
    { instanceId: "a" },
    { instanceId: "a" },
    { instanceId: "a", expectedSeq: 4 },
  ]);
  const refused = await call(verbs, "DELETE", "/instances/a", { headers: host, body: '{"expectedSeq":4}' });
  expect([refused.status, (await errorOf(refused)).code]).toEqual([415, "unsupported-media-type"]);
  expect(verbs.calls).toHaveLength(3);
});

test("a path that the contract does not name is 404, a wrong method 405 with Allow, in the one error shape", async () => {
  const verbs = recordingVerbs();
  const missing = await call(verbs, "GET", "/nothing/here");
  expect([missing.status, (await errorOf(missing)).code]).toEqual([404, "not-found"]);
  const wrong = await call(verbs, "PATCH", "/instances");
  expect([wrong.status, wrong.headers.get("allow"), (await errorOf(wrong)).code]).toEqual([
    405,
    "GET, POST",
    "method-not-allowed",
  ]);
  expect(verbs.calls).toEqual([]);
});

test.each([
  ["a field of the wrong type", "/instances/a/events", '{"type":7}', "body.type"],
  ["an unknown field", "/instances/a/events", '{"type":"go","expectSeq":1}', "body.expectSeq"],
  ["a negative sequence", "/instances/a/events", '{"type":"go","expectedSeq":-1}', "body.expectedSeq"],
  ["a short reason", "/locks/k/force-release", '{"expectedFence":1,"reason":"x"}', "body.reason"],
  ["a bad id in the path", "/instances/%2e%2e%2fetc/events", '{"type":"go"}', "path.instanceId"],
])("%s is 400 and names the field", async (_what, path, body, field) => {
  const verbs = recordingVerbs();
  const response = await call(verbs, "POST", path, { body });
  expect(response.status).toBe(400);
  expect((await errorOf(response)).details["field"]).toBe(field);
  expect(verbs.calls).toEqual([]);
});

test("an unknown filter is an error, never everything", async () => {
  const verbs = recordingVerbs();
  const response = await call(verbs, "GET", "/instances?stattus=failed");
  expect(response.status).toBe(400);
  expect((await errorOf(response)).message).toContain("query.stattus");
  expect(verbs.calls).toEqual([]);
});

test("a body of 300 KB is 413, with or without a truthful Content-Length", async () => {
  const verbs = recordingVerbs();
  const body = JSON.stringify({ type: "go", data: "x".repeat(300_000) });
  const whole = await call(verbs, "POST", "/instances/a/events", { body });
  expect([whole.status, (await errorOf(whole)).code]).toEqual([413, "payload-too-large"]);
  const streamed = await handle(
    new Request("http://127.0.0.1:3000/api/v1/instances/a/events", {
      method: "POST",
      headers: { ...json, "content-length": "10" },
      body: new Blob([body]).stream(),
      duplex: "half",
    } as RequestInit),
    "/instances/a/events",
    verbs.open,
  );
  expect(streamed.status).toBe(413);
  expect(verbs.calls).toEqual([]);
});

test("hostile JSON is refused with a reason: broken, too deep, __proto__, not UTF-8, not JSON at all", async () => {
  const verbs = recordingVerbs();
  const send = (body: BodyInit, headers: Record<string, string> = json) =>
    handle(
      new Request("http://127.0.0.1:3000/api/v1/instances/a/events", { method: "POST", headers, body }),
      "/instances/a/events",
      verbs.open,
    );
  expect((await send("{")).status).toBe(400);
  expect((await send(`{"type":"go","data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)).status).toBe(400);
  expect((await send('{"type":"go","data":{"__proto__":{"admin":true}}}')).status).toBe(400);
  expect((await send('{"type":"go","data":{"x":1152921504606846977}}')).status).toBe(400);
  expect((await send('{"type":"go","data":[1e999]}')).status).toBe(400);
  expect((await send(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]))).status).toBe(400);
  expect((await send("type=go", { ...host, "content-type": "text/plain" })).status).toBe(415);
  expect(verbs.calls).toEqual([]);
});

test("a refusal of the runtime keeps its code, details and message", async () => {
  const refusal = new LockstepError("sequence-conflict", "agv-07 moved on: expected seq 4, it is at 6.", {
    details: { expected: 4, actual: 6 },
  });
  const response = await call(recordingVerbs(refusal), "POST", "/instances/agv-07/events", {
    body: '{"type":"go"}',
  });
  expect(response.status).toBe(409);
  expect(await errorOf(response)).toEqual({
    code: "sequence-conflict",
    message: "agv-07 moved on: expected seq 4, it is at 6.",
    retry: "never",
    details: { expected: 4, actual: 6 },
  });
});

test("an unexpected failure tells a reference, not its insides", async () => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const response = await call(recordingVerbs(new Error("password=hunter2")), "GET", "/instances");
  const logged = write.mock.calls.map(([line]) => String(line)).join("");
  write.mockRestore();
  expect(response.status).toBe(500);
  const text = JSON.stringify(await response.json());
  expect(text).not.toContain("hunter2");
  expect(logged).toContain("hunter2");
});

test("every endpoint names a permission, and parameters of its path are in its schema", () => {
  for (const name of Object.keys(endpoints) as EndpointName[]) {
    const endpoint = endpoints[name];
    expect(endpoint.permission, name).toMatch(/^[a-z]+:[a-z]+$/);
    const wanted = [...endpoint.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? "");
    expect(Object.keys(endpoint.params.shape).sort(), name).toEqual(wanted.sort());
  }
});

test("of several shapes the one that was meant is told what is wrong within it; else what they are", async () => {
  const ask = async (selection: unknown) => {
    const body = JSON.stringify({ selection });
    const response = await call(recordingVerbs(), "POST", "/batches/count", { body });
    return (await errorOf(response)).message;
  };
  expect(await ask({ filter: { colour: "red" } })).toBe(
    "body.selection.filter.colour: isn't a field of this call.",
  );
  expect(await ask({ instanceIds: ["a b"] })).toMatch(/^body\.selection\.instanceIds\.0: use letters/);
  expect(await ask({})).toBe("body.selection: must be {instanceIds: [1 to 1,000 ids]} or {filter: {…}}.");
});
