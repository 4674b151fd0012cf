/**
 * `invoke: {src: "http"}`: one HTTP request, its answer as the task's output.
 *
 *   input: { url, method?, headers?, body?, successStatuses?, timeoutMs? }
 *   output: { status, headers, body }     body: JSON when the answer says so, else text
 *
 * Holds: only public addresses, or hosts the operator allows, are reached (http-address.ts); redirects are answers, never
 *        followed; an answer beyond 256 KiB is cut off; secrets come from the environment and are in no row, log or error.
 *        A write carries the task's idempotency key in `Idempotency-Key`, the same in every attempt.
 */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { z } from "zod";
import type { Json, JsonObject } from "@/lib/base/json";
import { payloadBytesMax } from "@/lib/base/limits";
import type { Invocation, InvocationContext, InvocationOutcome } from "@/lib/runtime/tasks/invocation";
import { AddressRefused, isAllowedHost, publicLookup, requirePublicHost } from "./http-address";
import { HostFailure, type HostBreakers } from "./host-breakers";

export interface HttpTaskOptions {
  /** Hosts, or host:port, that may be reached though they are not public. */
  allowedHosts: readonly string[];
  /** By name, as {secret: NAME} refers to them. */
  secrets: ReadonlyMap<string, string>;
  breakers: HostBreakers;
}

const headerValue = z.union([
  z.string(),
  z.strictObject({ secret: z.string(), prefix: z.string().optional() }),
]);
const inputShape = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
  headers: z.record(z.string(), headerValue).default({}),
  /** A text is sent as it is, anything else as JSON. */
  body: z.json().optional(),
  /** Others fail the attempt; default 200-299. */
  successStatuses: z.array(z.int().min(100).max(599)).optional(),
  timeoutMs: z.int().min(1).max(600_000).default(30_000),
});
type HttpInput = z.infer<typeof inputShape>;

/** Set by the connection itself: who sets them by hand can smuggle a second request. */
const forbiddenHeaders = new Set(["host", "connection", "content-length", "transfer-encoding", "upgrade"]);

export function httpTask(options: HttpTaskOptions): Invocation {
  return async (raw, context) => {
    const parsed = inputShape.safeParse(raw);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return wrong("http-input", `input.${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is wrong"}`);
    }
    const input = parsed.data;
    const url = new URL(input.url);
    const headers = headersOf(input, context, options.secrets);
    if ("error" in headers) return headers;
    const isAllowed = isAllowedHost(url, options.allowedHosts);
    const call = () => request(input, url, headers.headers, isAllowed, context.signal);
    const passed = await options.breakers.through(url.host, call);
    if ("result" in passed) return withoutSecrets(passed.result, headers.used);
    const message = `${url.host} failed again and again; it is not called for a while`;
    return { postponeMs: passed.closedForMs, why: { code: "breaker-open", message } };
  };
}

function headersOf(
  input: HttpInput,
  { idempotencyKey }: InvocationContext,
  secrets: ReadonlyMap<string, string>,
): { headers: Record<string, string>; used: string[] } | (InvocationOutcome & { error: unknown }) {
  const used: string[] = [];
  const headers: Record<string, string> = { "user-agent": "lockstep", accept: "*/*" };
  if (input.method !== "GET" && input.method !== "HEAD") headers["idempotency-key"] = idempotencyKey;
  if (input.body !== undefined) {
    headers["content-type"] =
      typeof input.body === "string" ? "text/plain; charset=utf-8" : "application/json";
  }
  for (const [name, value] of Object.entries(input.headers)) {
    const lower = name.toLowerCase();
    if (forbiddenHeaders.has(lower))
      return wrong("http-input", `input.headers: ${name} is set by the connection`);
    if (typeof value === "string") headers[lower] = value;
    else {
      const secret = secrets.get(value.secret);
      if (secret === undefined) {
        return wrong(
          "http-secret-missing",
          `there is no secret ${value.secret}: set LOCKSTEP_SECRET_${value.secret}`,
        );
      }
      used.push(secret);
      headers[lower] = `${value.prefix ?? ""}${secret}`;
    }
  }
  return { headers, used };
}

/** An answer that shows what it was sent must not bring the secret into the instance's context. */
function withoutSecrets(outcome: InvocationOutcome, used: readonly string[]): InvocationOutcome {
  if (used.length === 0) return outcome;
  let text = JSON.stringify(outcome);
  for (const secret of used) {
    if (secret !== "") text = text.replaceAll(JSON.stringify(secret).slice(1, -1), "[secret]");
  }
  return JSON.parse(text) as InvocationOutcome;
}

/** Throws HostFailure with the outcome when it is the host's fault. */
async function request(
  input: HttpInput,
  url: URL,
  headers: Record<string, string>,
  isAllowed: boolean,
  aborted: AbortSignal,
): Promise<InvocationOutcome> {
  const timeout = AbortSignal.timeout(input.timeoutMs);
  try {
    if (!isAllowed) requirePublicHost(url);
    const response = await send(input, url, headers, isAllowed, AbortSignal.any([timeout, aborted]));
    const body = await read(response);
    if (body === null) {
      return wrong("http-answer-too-large", `the answer is over ${payloadBytesMax} bytes`);
    }
    return judge(input, response, body);
  } catch (error) {
    if (error instanceof HostFailure) throw error;
    if (error instanceof AddressRefused) return wrong("http-address-refused", error.message);
    if (isOurs(error)) return wrong("http-input", (error as Error).message);
    // Nobody waits for it: says nothing about the host.
    if (aborted.aborted) return { error: { code: "aborted", message: "the attempt was ended" }, retry: true };
    const told = timeout.aborted
      ? { code: "timeout", message: `${url.host} did not answer within ${input.timeoutMs} ms` }
      : {
          code: "http-unreachable",
          message: `${url.host}: ${error instanceof Error ? error.message : String(error)}`,
        };
    throw new HostFailure<InvocationOutcome>({ error: told, retry: true });
  }
}

function send(
  { method, body }: HttpInput,
  url: URL,
  headers: Record<string, string>,
  isAllowed: boolean,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    // A connection of its own: one kept from before would pass the guard by.
    const sent = request(
      url,
      { method, headers, signal, agent: false, ...(isAllowed ? {} : { lookup: publicLookup }) },
      resolve,
    );
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
  });
}

/** Null when it is too large. */
async function read(response: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > payloadBytesMax) {
      response.destroy();
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function judge(input: HttpInput, response: IncomingMessage, text: string): InvocationOutcome {
  const status = response.statusCode ?? 0;
  const output: JsonObject = { status, headers: plainHeaders(response), body: bodyOf(response, text) };
  const isSuccess = input.successStatuses?.includes(status) ?? (status >= 200 && status < 300);
  if (isSuccess) return { output };
  const error = { code: `http-${status}`, message: `the answer was ${status}`, data: output };
  const outcome: InvocationOutcome = { error, retry: status >= 500 || [408, 425, 429].includes(status) };
  if (status >= 500) throw new HostFailure<InvocationOutcome>(outcome);
  return outcome;
}

const plainHeaders = ({ headers }: IncomingMessage): JsonObject =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );

function bodyOf({ headers }: IncomingMessage, text: string): Json {
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(headers["content-type"] ?? "")) return storable(text);
  try {
    return JSON.parse(text) as Json;
  } catch {
    return storable(text);
  }
}

/** What no database column takes. */
const storable = (text: string): string => text.replaceAll("\0", "\uFFFD");

/** Node's own refusal of a header or path it can't send. */
const isOurs = (error: unknown): boolean =>
  error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_");

const wrong = (
  code: string,
  message: string,
): { error: { code: string; message: string }; retry: boolean } => ({
  error: { code, message },
  retry: false,
});
