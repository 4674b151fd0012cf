/**
 * One request of /api/v1 from door to answer: guard, match, who asks, may they, parse, verb, answer.
 *
 * Holds: the permission is checked before the body is read; every failure becomes the one error shape.
 */
import { localActor, type Actor, type Permission } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { endpoints, type Endpoint, type EndpointName, type ResponseOf } from "@/lib/contract/endpoints";
import { errorResponse } from "./error-response";
import { guardRequest } from "./guard-request";
import { matchEndpoint } from "./match-endpoint";
import { parseRequest } from "./parse-request";

/** The runtime as this room sees it: a verb for every endpoint, its result as the contract promises. */
export type Verbs = {
  [N in EndpointName]: (actor: Actor, args: never) => Promise<ResponseOf<N>>;
};

/** Who waits by one of these and has gone must not be given work, nor a lock. */
const waits: ReadonlySet<EndpointName> = new Set(["claimTasks", "acquireLock", "acquireLocks"]);

/** They may be answered before the step. */
const sends: ReadonlySet<EndpointName> = new Set(["sendEvent", "sendEvents", "retryDeadLetter"]);

/** `path` is what follows /api/v1. */
export async function handle(request: Request, path: string, verbs: () => Promise<Verbs>): Promise<Response> {
  const about = `${request.method} /api/v1${path}`;
  try {
    guardRequest(request);
    const { name, params } = matchEndpoint(request.method, path);
    const endpoint: Endpoint = endpoints[name];
    const actor = actorOf(request);
    requirePermission(actor, endpoint.permission as Permission);
    const args = await parseRequest(endpoint, request, params);
    const later = sends.has(name) && prefersAsync(request);
    if (later) args["respondAsync"] = true;
    if (waits.has(name)) args["signal"] = request.signal;
    const runtime = await verbs();
    const result = await (runtime[name] as (actor: Actor, args: unknown) => Promise<unknown>)(actor, args);
    const status = statusFor(name, endpoint, result);
    const place = status === 202 ? outcomeOf(result as Sent) : {};
    const preference = status === 202 && later ? { "Preference-Applied": "respond-async" } : {};
    const headers = { "Cache-Control": "no-store", ...place, ...preference };
    return Response.json(result, { status, headers });
  } catch (error) {
    return errorResponse(error, about);
  }
}

/** Until people sign in, whoever reaches the loopback address is the person at this machine. */
export function actorOf(_request: Request): Actor {
  return localActor;
}

/** Where it is told what became of it. */
function outcomeOf(sent: Sent): { Location: string } {
  const messageId = "messageIds" in sent ? (sent.messageIds.at(-1) ?? "") : sent.messageId;
  const instance = `/api/v1/instances/${encodeURIComponent(sent.instanceId)}`;
  return { Location: `${instance}/messages/${encodeURIComponent(messageId)}` };
}
type Sent = ResponseOf<"sendEvent"> | ResponseOf<"sendEvents">;

const prefersAsync = (request: Request): boolean =>
  /(^|[\s,;])respond-async($|[\s,;])/.test(request.headers.get("prefer") ?? "");

/** A message that isn't stepped yet is 202: accepted, its outcome still to come. A server that isn't ready says 503. */
function statusFor(name: EndpointName, endpoint: Endpoint, result: unknown): number {
  if (sends.has(name) && (result as ResponseOf<"sendEvent">).state === "queued") return 202;
  if (name === "getReadiness" && !(result as ResponseOf<"getReadiness">).ready) return 503;
  return endpoint.status;
}
