/**
 * The typed client of /api/v1: one method per endpoint of the contract, for browsers and Node alike.
 *
 *   const client = createClient({ baseUrl: "http://127.0.0.1:3000" });
 *   await client.sendEvent({ instanceId: "order-1", type: "pay", data: { amount: 5 }, expectedSeq: 4 }, { idempotencyKey });
 *
 * Arguments are one object: what the contract names as path parameter goes into the path, as query into the query string,
 * the rest is the JSON body.
 *
 * Holds: an answer is parsed by the contract's schema before anybody sees it; every refusal is a LockstepError with the
 * server's code, message, retry and details; what can't be sent as it is (NaN, a Date, a key that no header can carry) is
 * `bad-request` before anything is sent; a lost connection is never mistaken for a refusal: a read is
 * `server-unreachable`, a write is `outcome-unknown`, safe to repeat with the same idempotency key.
 * Does not: repeat calls by itself.
 */
import { LockstepError, type ErrorCode } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import { findJsonFault } from "@/lib/base/json-fault";
import { errorBody, statusOf } from "@/lib/contract/common";
import {
  endpoints,
  idempotencyHeader,
  type BodyOf,
  type Endpoint,
  type EndpointName,
  type ParamsOf,
  type QueryOf,
  type ResponseOf,
} from "@/lib/contract/endpoints";

export interface ClientOptions {
  /** Scheme, host and port, e.g. `http://127.0.0.1:3000`; "" in a page served by Lockstep itself. */
  baseUrl: string;
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** Names the call for safe repetition; see `idempotent` in the contract. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** Path parameters, query and body of an endpoint in one object. */
export type ArgsOf<N extends EndpointName> = Named<ParamsOf<N>> & Named<QueryOf<N>> & Named<BodyOf<N>>;
/** An endpoint without parameters has the type of an empty record, which would forbid every name beside it. */
type Named<T> = T extends undefined ? unknown : string extends keyof T ? unknown : T;

type Call<N extends EndpointName> =
  object extends ArgsOf<N>
    ? (args?: ArgsOf<N>, options?: CallOptions) => Promise<ResponseOf<N>>
    : (args: ArgsOf<N>, options?: CallOptions) => Promise<ResponseOf<N>>;

export type Client = { [N in EndpointName]: Call<N> };

export const apiPrefix = "/api/v1";

export function createClient({ baseUrl, fetch = globalThis.fetch }: ClientOptions): Client {
  // async: a refusal is a rejected promise, also one made before anything is sent.
  const call = async (name: EndpointName, args: object = {}, options: CallOptions = {}): Promise<unknown> => {
    const endpoint: Endpoint = endpoints[name];
    const request = requestOf(name, args, options.idempotencyKey);
    const response = await send(fetch, baseUrl, request, options.signal);
    const text = await readText(response, baseUrl, request);
    if (!response.ok) throw refusal(text, response, request);
    const parsed = endpoint.response.safeParse(parseJson(text, response, request));
    if (parsed.success) return parsed.data;
    throw new LockstepError(
      "internal",
      `${request.method} ${request.path} answered in a shape this client does not know (${where(parsed.error.issues)}). ` +
        "Client and server are of different versions: reload the page, or update the client.",
    );
  };
  const client = Object.fromEntries(
    Object.keys(endpoints).map((name) => [
      name,
      (args?: object, options?: CallOptions) => call(name as EndpointName, args, options),
    ]),
  );
  return client as unknown as Client;
}

export interface Request {
  method: Endpoint["method"];
  /** With the API's prefix and the query string. */
  path: string;
  headers: Record<string, string>;
  body: string | null;
}

/** What a call sends, without sending it. Throws `bad-request` when it can't be sent as it is. */
export function requestOf(name: EndpointName, args: object, idempotencyKey?: string): Request {
  const endpoint: Endpoint = endpoints[name];
  const rest = new Map(
    Object.entries(args as Record<string, Json | undefined>).filter(([, value]) => value !== undefined),
  );
  for (const [key, value] of rest) requireJson(value, key);
  const take = (key: string): string => {
    const value = text(rest.get(key));
    rest.delete(key);
    if (stepsAside.test(value))
      throw wrong(key, `${name} needs it in its path, where it can't be "${value}"`);
    return encodeURIComponent(value);
  };
  const path = endpoint.path.replace(/:(\w+)/g, (_, key: string) => take(key));
  const headers: Record<string, string> = { Accept: "application/json" };
  if (idempotencyKey !== undefined) {
    if (!endpoint.idempotent) throw wrong("idempotencyKey", `${name} takes none`);
    if (!carried.test(idempotencyKey)) throw wrong("idempotencyKey", carriedSays);
    headers[idempotencyHeader] = idempotencyKey;
  }
  // The server takes writes as JSON only, so that no foreign page's form can make one.
  if (endpoint.method !== "GET") headers["Content-Type"] = "application/json";
  if (endpoint.body) {
    return {
      method: endpoint.method,
      path: apiPrefix + path,
      headers,
      body: JSON.stringify(Object.fromEntries(rest)),
    };
  }
  const query = new URLSearchParams(
    [...rest].flatMap(([key, value]) => [value].flat().map((each): [string, string] => [key, text(each)])),
  ).toString();
  return { method: endpoint.method, path: apiPrefix + path + (query && `?${query}`), headers, body: null };
}

/** URLs drop such a part of a path: the call would be another one. */
const stepsAside = /^\.*$/;
/** A header's value: bytes, without control characters; spaces at its ends would be taken off. */
const carried = /^(?! )[\x20-\x7e\xa0-\xff]{1,256}(?<! )$/;
const carriedSays =
  "it is sent as a header, and holds 1 to 256 letters, digits, signs and inner spaces of Latin-1: no line breaks, no other alphabets";

/** The request's deeper bounds are the server's to say; this one is the stack's. */
const depthMax = 1_000;
function requireJson(value: unknown, name: string): void {
  const fault = findJsonFault(value, depthMax);
  if (!fault) return;
  const found = fault.found === null ? "nested too deep" : `${fault.found}, which JSON doesn't have`;
  throw wrong(name + fault.path, `it is ${found}`);
}

const wrong = (field: string, problem: string): LockstepError =>
  new LockstepError("bad-request", `${field}: ${problem}. Nothing was sent.`, { details: { field } });

/** Path and query carry names and numbers. */
const text = (value: Json | undefined): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);

async function send(
  fetch: typeof globalThis.fetch,
  baseUrl: string,
  request: Request,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const { method, path, headers, body } = request;
  try {
    return await fetch(baseUrl + path, {
      method,
      headers,
      body,
      cache: "no-store",
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    throw lostConnection(error, baseUrl, request);
  }
}

async function readText(response: Response, baseUrl: string, request: Request): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw lostConnection(error, baseUrl, request);
  }
}

function lostConnection(error: unknown, baseUrl: string, { method, path, headers }: Request): unknown {
  if (error instanceof Error && error.name === "AbortError") return error;
  const server = baseUrl === "" ? "the Lockstep server" : baseUrl;
  if (method === "GET" || neverSent(error)) {
    return new LockstepError(
      "server-unreachable",
      `No answer from ${server} to ${method} ${path}. Nothing was changed. Check that it runs, then try again.`,
      {
        retry: "later",
        cause: error,
      },
    );
  }
  const advice =
    idempotencyHeader in headers
      ? "Repeat it with the same idempotency key, or read the state first."
      : "Read the state before you repeat it.";
  return new LockstepError(
    "outcome-unknown",
    `The connection to ${server} was lost during ${method} ${path}: whether it took effect isn't known. ${advice}`,
    { retry: "later", cause: error },
  );
}

/** Node tells a connection that was never made from a broken one; browsers do not. */
function neverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && notMade.has(String(cause.code));
}
const notMade = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ERR_INVALID_URL"]);

function refusal(text: string, response: Response, { method, path }: Request): LockstepError {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  const parsed = errorBody.safeParse(body);
  if (!parsed.success) {
    return new LockstepError(
      "internal",
      `${method} ${path} answered ${response.status} without an error Lockstep knows. Is another server behind this address?`,
      {
        retry: response.status >= 500 ? "later" : "never",
        details: { status: response.status },
      },
    );
  }
  const { code, message, retry, details } = parsed.data.error;
  return new LockstepError(isErrorCode(code) ? code : "internal", message, {
    retry,
    details,
  });
}

function parseJson(text: string, response: Response, { method, path }: Request): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new LockstepError(
      "internal",
      `${method} ${path} answered ${response.status} with text that isn't JSON. Is another server behind this address?`,
    );
  }
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(statusOf, code);

const where = (issues: readonly { path: readonly PropertyKey[]; message: string }[]): string => {
  const first = issues[0];
  return first ? `${first.path.map(String).join(".") || "the whole"}: ${first.message}` : "no detail";
};
