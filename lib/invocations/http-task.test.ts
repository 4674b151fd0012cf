import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Json, JsonObject } from "@/lib/base/json";
import type { InvocationOutcome } from "@/lib/runtime/tasks/invocation";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, publish } from "@/lib/testing/runtime";
import { HostBreakers } from "./host-breakers";
import { isPublicAddress } from "./http-address";
import { httpTask } from "./http-task";
import { createInvocations } from "./invocations";

let server: Server;
let host: string;
let seen: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
beforeEach(async () => {
  seen = [];
  answer = (_request, response) => response.setHeader("content-type", "application/json").end('{"ok":true}');
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const secrets = new Map([["PAY", "s3cret-key"]]);
let breakers = new HostBreakers();
beforeEach(() => (breakers = new HostBreakers()));
const call = (
  input: Json,
  allowedHosts = [host],
  signal = new AbortController().signal,
): Promise<InvocationOutcome> =>
  httpTask({ allowedHosts, secrets, breakers })(input, { signal, idempotencyKey: "a:1:pay", attempt: 1 });
const code = (outcome: InvocationOutcome) =>
  "error" in outcome
    ? [outcome.error.code, outcome.retry]
    : "output" in outcome
      ? "output"
      : outcome.why.code;

test("an answer is the output: status, headers, body as JSON or text", async () => {
  const body = { amount: 5 };
  expect(await call({ url: `http://${host}/pay?x=1`, method: "POST", body })).toMatchObject({
    output: { status: 200, headers: { "content-type": "application/json" }, body: { ok: true } },
  });
  expect(seen[0]).toMatchObject({ method: "POST", url: "/pay?x=1", body: '{"amount":5}' });
  expect(seen[0]?.headers).toMatchObject({
    "idempotency-key": "a:1:pay",
    "content-type": "application/json",
  });
  answer = (_request, response) => response.end("plain");
  expect(await call({ url: `http://${host}/` })).toMatchObject({ output: { body: "plain" } });
  expect(seen[1]?.headers["idempotency-key"]).toBeUndefined();
});

test("a secret goes into the header it is meant for and comes back in no answer", async () => {
  answer = (request, response) => response.end(`you sent ${request.headers.authorization}`);
  const headers = { Authorization: { secret: "PAY", prefix: "Bearer " } };
  const outcome = await call({ url: `http://${host}/`, headers });
  expect(seen[0]?.headers.authorization).toBe("Bearer s3cret-key");
  expect(outcome).toMatchObject({ output: { body: "you sent Bearer [secret]" } });
  expect(code(await call({ url: `http://${host}/`, headers: { a: { secret: "NONE" } } }))).toEqual([
    "http-secret-missing",
    false,
  ]);
});

test("a status that is no success fails the attempt, and only what may pass is tried again", async () => {
  const statusIs = (status: number) => {
    answer = (_request, response) =>
      response.writeHead(status, { location: `http://${host}/else` }).end("no");
  };
  const url = `http://${host}/`;
  statusIs(404);
  expect(await call({ url })).toMatchObject({
    error: { code: "http-404", data: { body: "no" } },
    retry: false,
  });
  expect(code(await call({ url, successStatuses: [404] }))).toBe("output");
  statusIs(429);
  expect(code(await call({ url }))).toEqual(["http-429", true]);
  statusIs(503);
  expect(code(await call({ url }))).toEqual(["http-503", true]);
  statusIs(302);
  expect(code(await call({ url }))).toEqual(["http-302", false]);
  expect(seen.map((request) => request.url)).not.toContain("/else");
});

test("a host that is too slow, too talkative or not there fails the attempt", async () => {
  answer = () => undefined;
  expect(code(await call({ url: `http://${host}/`, timeoutMs: 100 }))).toEqual(["timeout", true]);
  answer = (_request, response) => response.end("x".repeat(300_000));
  expect(code(await call({ url: `http://${host}/` }))).toEqual(["http-answer-too-large", false]);
  expect(code(await call({ url: "http://127.0.0.1:1/" }, ["127.0.0.1"]))).toEqual(["http-unreachable", true]);
});

test("an attempt that is ended stops at once", async () => {
  answer = () => undefined;
  const ending = new AbortController();
  const outcome = call({ url: `http://${host}/` }, [host], ending.signal);
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  ending.abort();
  expect(code(await outcome)).toEqual(["aborted", true]);
});

test("what can't be sent is the chart's mistake", async () => {
  for (const input of [
    null,
    { url: "file:///etc/passwd" },
    { url: `http://${host}/`, method: "TRACE" },
    { url: `http://${host}/`, headers: { Host: "other" } },
    { url: `http://${host}/`, headers: { "a b": "x" } },
    { url: `http://${host}/`, headers: { a: "x\r\nb: y" } },
    { url: `http://${host}/`, body: 1, more: 2 },
  ]) {
    expect(code(await call(input)), JSON.stringify(input)).toEqual(["http-input", false]);
  }
  expect(seen).toEqual([]);
});

describe("inside addresses are refused", () => {
  test.each([
    ...["127.0.0.1", "localhost", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1"],
    ...["169.254.169.254", "2130706433", "0x7f.1", "017700000001", "127.1", "224.0.0.1", "255.255.255.255"],
    ...[
      "[::1]",
      "[::]",
      "[fe80::1]",
      "[fc00::1]",
      "[::ffff:127.0.0.1]",
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
    ],
  ])("%s", async (name) => {
    const port = host.split(":")[1];
    const outcome = await call({ url: `http://${name}:${port}/` }, []);
    expect(code(outcome)).toEqual(["http-address-refused", false]);
    expect(seen).toEqual([]);
  });

  test("public ones are not, and an allowed host is reached by its very name and port alone", async () => {
    expect(["93.184.216.34", "2606:4700::1111"].map(isPublicAddress)).toEqual([true, true]);
    expect(code(await call({ url: `http://${host}/` }, ["127.0.0.1:1"]))).toEqual([
      "http-address-refused",
      false,
    ]);
    expect(code(await call({ url: `http://${host}/` }, ["127.0.0.1"]))).toBe("output");
  });
});

test("a host that fails 5 times in a row is not called for a while, others are", async () => {
  answer = (_request, response) => response.writeHead(500).end();
  const url = `http://${host}/`;
  for (let n = 0; n < 5; n += 1) expect(code(await call({ url }))).toEqual(["http-500", true]);
  const refused = await call({ url });
  expect(refused).toMatchObject({ why: { code: "breaker-open" } });
  expect("postponeMs" in refused && refused.postponeMs).toBeGreaterThan(4_000);
  expect(seen).toHaveLength(5);
  expect(breakers.list()).toMatchObject([{ name: host, state: "open" }]);
  expect(code(await call({ url: url.replace("127.0.0.1", "localhost") }, ["localhost"]))).toEqual([
    "http-500",
    true,
  ]);
});

test("after its pause one call probes, and a good answer closes the breaker", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    answer = (_request, response) => response.writeHead(500).end();
    const url = `http://${host}/`;
    for (let n = 0; n < 5; n += 1) await call({ url });
    vi.setSystemTime(Date.now() + 5_001);
    let finish = () => {};
    answer = (_request, response) => (finish = () => void response.end("well"));
    const probe = call({ url });
    await vi.waitFor(() => expect(seen).toHaveLength(6));
    expect(code(await call({ url }))).toBe("breaker-open");
    finish();
    expect(code(await probe)).toBe("output");
    answer = (_request, response) => void response.end("well");
    expect(code(await call({ url }))).toBe("output");
    expect(breakers.list()).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

describe.each(providers)("on %s", (provider) => {
  test("an instance's http invocation is carried out by the server and moves it on; a failed one is tried again", async () => {
    const at = await freshRuntime(provider, {
      invocations: createInvocations({ allowedHosts: [host], secrets }),
    });
    try {
      at.runtime.startWorkers();
      const chart: JsonObject = {
        lockstep: 1,
        context: { paid: false },
        initial: "paying",
        states: {
          paying: {
            invoke: {
              id: "pay",
              src: "http",
              input: { url: "input.url", method: "'POST'", body: "{'n': 1}" },
              retry: { delay: "50ms" },
            },
            on: {
              "done.invoke.pay": { target: "paid", actions: { assign: { paid: "event.data.body.ok" } } },
              "error.invoke.pay": "unpaid",
            },
          },
          paid: {},
          unpaid: {},
        },
      };
      await publish(at.runtime, "order", chart);
      const well = answer;
      let failures = 1;
      answer = (request, response) => {
        if ((failures -= 1) >= 0) response.writeHead(503).end();
        else well(request, response);
      };
      const input = { url: `http://${host}/pay` };
      await at.runtime.startInstance(local, { chartId: "order", id: "a", input });
      await vi.waitFor(
        async () =>
          expect(await at.runtime.getInstance(local, { instanceId: "a" })).toMatchObject({
            configuration: ["paid"],
            context: { paid: true },
          }),
        8_000,
      );
      expect((await at.runtime.listTasks(local, { instanceId: "a" })).items).toMatchObject([
        { kind: "http", status: "succeeded", attempt: 2 },
      ]);
      expect(seen.map((request) => request.headers["idempotency-key"])).toEqual(["a:1:pay", "a:1:pay"]);
      expect(at.reported).toEqual([]);
    } finally {
      await at.end();
    }
  });
});
