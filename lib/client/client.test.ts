/**
 * The client against a real HTTP server on this machine that answers as the contract says.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LockstepError } from "@/lib/base/errors";
import { must } from "@/lib/base/assert";
import { createClient, type Client } from "./client";

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

let server: Server;
let client: Client;
let baseUrl: string;
let seen: Seen[];
let answer: { status: number; body: string } | "hang-up";

beforeEach(async () => {
  seen = [];
  answer = { status: 200, body: "{}" };
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
      if (answer === "hang-up") request.socket.destroy();
      else response.writeHead(answer.status, { "Content-Type": "application/json" }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = createClient({ baseUrl });
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const sendResult = {
  messageId: "m1",
  instanceId: "order-1",
  state: "applied",
  seq: 5,
  outcome: "moved",
  reason: null,
  status: "running",
  configuration: ["paid"],
  pending: 0,
  replayed: false,
};

test("splits arguments into path, body and idempotency header", async () => {
  answer = { status: 200, body: JSON.stringify(sendResult) };
  const result = await client.sendEvent(
    { instanceId: "order-1", type: "pay", data: { amount: 5 }, expectedSeq: 4 },
    { idempotencyKey: "key-1" },
  );
  expect(result).toEqual(sendResult);
  const request = must(seen[0], "one request");
  expect(request.method).toBe("POST");
  expect(request.url).toBe("/api/v1/instances/order-1/events");
  expect(request.headers["idempotency-key"]).toBe("key-1");
  expect(request.headers["content-type"]).toBe("application/json");
  expect(JSON.parse(request.body)).toEqual({ type: "pay", data: { amount: 5 }, expectedSeq: 4 });
});

test("puts a read's filters into the query string and leaves out what is undefined", async () => {
  answer = { status: 200, body: JSON.stringify({ items: [], nextCursor: null }) };
  await client.listInstances({ status: "running", idPrefix: "agv 7&x=", limit: 50, chartId: undefined });
  const request = must(seen[0], "one request");
  expect(request.url).toBe("/api/v1/instances?status=running&idPrefix=agv+7%26x%3D&limit=50");
  expect(request.body).toBe("");
});

test("a filter that may be given several times is given so", async () => {
  answer = { status: 200, body: JSON.stringify({ items: [], nextCursor: null }) };
  await client.listInstances({ label: ["site:north", "dock:3&4"], limit: 2 });
  expect(must(seen[0], "one request").url).toBe(
    "/api/v1/instances?label=site%3Anorth&label=dock%3A3%264&limit=2",
  );
});

test("escapes path parameters, so that a lock key with slashes stays one segment", async () => {
  answer = { status: 200, body: JSON.stringify({ items: [], total: 0 }) };
  await client.getLockLog({ key: "zone/14?x" });
  expect(must(seen[0], "one request").url).toBe("/api/v1/locks/zone%2F14%3Fx/log");
});

test("a refusal arrives as LockstepError with code, message, retry and details", async () => {
  const error = {
    code: "sequence-conflict",
    message: "order-1 moved on: expected seq 4, it is at 6. Nothing was sent.",
    retry: "never",
    details: { expected: 4, actual: 6 },
  };
  answer = { status: 409, body: JSON.stringify({ error }) };
  const thrown = await client
    .sendEvent({ instanceId: "order-1", type: "pay", expectedSeq: 4 })
    .catch((e: unknown) => e);
  expect(thrown).toBeInstanceOf(LockstepError);
  expect(thrown).toMatchObject(error);
});

test("an answer outside the contract is an error that names the field", async () => {
  answer = { status: 200, body: JSON.stringify({ ...sendResult, seq: "five" }) };
  await expect(client.sendEvent({ instanceId: "order-1", type: "pay" })).rejects.toMatchObject({
    code: "internal",
    message: expect.stringContaining("seq:") as string,
  });
});

test("an error page of something else is not taken for Lockstep's", async () => {
  answer = { status: 502, body: "<h1>Bad gateway</h1>" };
  await expect(client.listCharts()).rejects.toMatchObject({
    code: "internal",
    retry: "later",
    details: { status: 502 },
  });
});

test("a write whose connection breaks has an unknown outcome, a read is only unreachable", async () => {
  answer = "hang-up";
  const pay = { instanceId: "order-1", type: "pay" };
  const told = (message: string) => ({
    code: "outcome-unknown",
    retry: "later",
    message: expect.stringContaining(message) as string,
  });
  await expect(client.sendEvent(pay, { idempotencyKey: "k" })).rejects.toMatchObject(
    told("Repeat it with the same idempotency key"),
  );
  await expect(client.sendEvent(pay)).rejects.toMatchObject(told("Read the state before you repeat it."));
  await expect(client.listCharts()).rejects.toMatchObject({ code: "server-unreachable", retry: "later" });
});

test("a write that found no server was not sent, and says so", async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await expect(client.sendEvent({ instanceId: "order-1", type: "pay" })).rejects.toMatchObject({
    code: "server-unreachable",
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

test("an aborted call rejects with the abort, not with a lost connection", async () => {
  const abort = new AbortController();
  abort.abort();
  await expect(client.listCharts({}, { signal: abort.signal })).rejects.toHaveProperty("name", "AbortError");
});

test.each([
  [{ amount: Number.NaN }, "data.amount"],
  [[1, { at: new Date(0) }], "data.1.at"],
  [Number.POSITIVE_INFINITY, "data"],
  [{ n: 1n }, "data.n"],
])("data that JSON doesn't have is refused where it is, and nothing is sent: %#", async (data, field) => {
  const call = client.sendEvent({ instanceId: "order-1", type: "pay", data: data as never });
  await expect(call).rejects.toMatchObject({ code: "bad-request", retry: "never", details: { field } });
  expect(seen).toEqual([]);
});

test.each(["ключ", "a\nb", "a\u0000", " a", "a ", "", "a".repeat(257), "€"])(
  "a key that no header carries is refused and nothing is sent: %j",
  async (idempotencyKey) => {
    const call = client.sendEvent({ instanceId: "order-1", type: "pay" }, { idempotencyKey });
    await expect(call).rejects.toMatchObject({
      code: "bad-request",
      details: { field: "idempotencyKey" },
      message: expect.stringContaining("Nothing was sent") as string,
    });
    expect(seen).toEqual([]);
  },
);

test("a key for a call that takes none is refused and nothing is sent", async () => {
  await expect(client.getInstance({ instanceId: "order-1" }, { idempotencyKey: "k" })).rejects.toMatchObject({
    code: "bad-request",
    details: { field: "idempotencyKey" },
  });
  expect(seen).toEqual([]);
});

test("a key of any signs of Latin-1 arrives as it is", async () => {
  answer = { status: 200, body: JSON.stringify(sendResult) };
  for (const idempotencyKey of ["a b", "é§:/~\u00ff", "k".repeat(256)]) {
    await client.sendEvent({ instanceId: "order-1", type: "pay" }, { idempotencyKey });
    const header = String(must(seen.at(-1), "a request").headers["idempotency-key"]);
    expect(Buffer.from(header, "latin1").toString("latin1")).toBe(idempotencyKey);
  }
});

test.each(["", ".", "..", "...", null, undefined])(
  "a path parameter that a URL would drop is refused by its name, and nothing is sent: %j",
  async (instanceId) => {
    const refused = { code: "bad-request", details: { field: "instanceId" } };
    await expect(client.getInstance({ instanceId: instanceId as string })).rejects.toMatchObject(refused);
    await expect(client.deleteInstance({ instanceId: instanceId as string })).rejects.toMatchObject(refused);
    expect(seen).toEqual([]);
  },
);

test("a write to an address that is none was not sent, and says so", async () => {
  const nowhere = createClient({ baseUrl: "http://[" });
  await expect(nowhere.sendEvent({ instanceId: "order-1", type: "pay" })).rejects.toMatchObject({
    code: "server-unreachable",
  });
});
