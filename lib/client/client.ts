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
 * server's code, message, retry and details; a lost connection is never mistaken for a refusal: a read is
 * `server-unreachable`, a write is `outcome-unknown`, safe to repeat with the same idempotency key.
 * Does not: repeat calls by itself.
 */
import { assert, must } from "@/lib/base/assert";
import { LockstepError, type ErrorCode } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
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

/** What a call sends, without sending it. */
export function requestOf(name: EndpointName, args: object, idempotencyKey?: string): Request {
  const endpoint: Endpoint = endpoints[name];
  const rest = new Map(
    Object.entries(args as Record<string, Json | undefined>).filter(([, value]) => value !== undefined),
  );
  const take = (key: string): Json => {
    const value = must(rest.get(key), `${name} needs ${key}`);
    rest.delete(key);
    return value;
  };
  const path = endpoint.path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(text(take(key))));
  const headers: Record<string, string> = { Accept: "application/json" };
  if (idempotencyKey !== undefined) {
    assert(endpoint.idempotent, `${name} takes no idempotency key`);
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
    [...rest].map(([key, value]): [string, string] => [key, text(value)]),
  ).toString();
  return { method: endpoint.method, path: apiPrefix + path + (query && `?${query}`), headers, body: null };
}

/** Path and query carry names and numbers. */
const text = (value: Json | undefined): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? "");

async function send(
  fetch: typeof globalThis.fetch,
  baseUrl: string,
  { method, path, headers, body }: Request,
  signal: AbortSignal | undefined,
): Promise<Response> {
  try {
    return await fetch(baseUrl + path, {
      method,
      headers,
      body,
      cache: "no-store",
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    throw lostConnection(error, baseUrl, method, path);
  }
}

async function readText(response: Response, baseUrl: string, { method, path }: Request): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw lostConnection(error, baseUrl, method, path);
  }
}

function lostConnection(error: unknown, baseUrl: string, method: string, path: string): unknown {
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
  return new LockstepError(
    "outcome-unknown",
    `The connection to ${server} was lost during ${method} ${path}: whether it took effect isn't known. Repeat it with the same idempotency key, or read the state first.`,
    { retry: "later", cause: error },
  );
}

/** Node tells a refused connection from a broken one; browsers do not. */
function neverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}

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
