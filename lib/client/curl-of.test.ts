/**
 * The copied line is run by a real shell; what arrives must be what the client would send.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { curlOf } from "./curl-of";

test("a pasted line sends the same request, whatever quotes the payload holds", async () => {
  const line = curlOf(
    "sendEvent",
    { instanceId: "order-1", type: "pay", data: { note: `it's "5" $HOME \`id\`\nnew line` } },
    { baseUrl: "http://127.0.0.1:1", idempotencyKey: "k'1" },
  );
  // `printf` with the same words shows what the shell hands to curl, without needing curl here.
  const { stdout } = await promisify(execFile)("sh", ["-c", line.replace(/^curl/, "printf '%s\\0'")]);
  expect(stdout.split("\0").slice(0, -1)).toEqual([
    "-sS",
    "-X",
    "POST",
    "http://127.0.0.1:1/api/v1/instances/order-1/events",
    "-H",
    "Idempotency-Key: k'1",
    "-H",
    "Content-Type: application/json",
    "--data-raw",
    JSON.stringify({ type: "pay", data: { note: `it's "5" $HOME \`id\`\nnew line` } }),
  ]);
});

test("a read is a plain curl of the address", () => {
  expect(curlOf("getState", { instanceId: "order-1", seq: 2 }, { baseUrl: "http://h" })).toBe(
    "curl -sS 'http://h/api/v1/instances/order-1/state?seq=2'",
  );
});
