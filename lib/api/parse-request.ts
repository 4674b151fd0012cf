/**
 * A matched request → the arguments of its verb, checked by the contract's schemas.
 *
 * Holds: unknown query parameters and unknown body fields are errors, never "everything"; messages name the field.
 */
import { LockstepError } from "@/lib/base/errors";
import { checkArgs } from "@/lib/contract/check-args";
import { idempotencyHeader, idempotencyKey, listParams, type Endpoint } from "@/lib/contract/endpoints";
import { readJsonBody } from "./read-body";

export async function parseRequest(
  endpoint: Endpoint,
  request: Request,
  pathParams: Record<string, string>,
): Promise<Record<string, unknown>> {
  const params = checkArgs(endpoint.params, pathParams, "path");
  const query = checkArgs(endpoint.query, queryObject(request, listParams(endpoint)), "query");
  const body = endpoint.body ? checkArgs(endpoint.body, await readBody(endpoint, request), "body") : {};
  const args = Object.assign({}, query, body, params) as Record<string, unknown>;
  const key = request.headers.get(idempotencyHeader);
  if (key === null) return args;
  if (!endpoint.idempotent) {
    throw new LockstepError(
      "bad-request",
      `${idempotencyHeader} has no meaning for ${endpoint.method} ${endpoint.path}.`,
    );
  }
  return { ...args, idempotencyKey: checkArgs(idempotencyKey, key, idempotencyHeader) };
}

/** A DELETE may come without one, as it usually does. */
const readBody = (endpoint: Endpoint, request: Request): Promise<unknown> =>
  readJsonBody(request, endpoint.bodyBytesMax, endpoint.method === "DELETE" ? {} : undefined);

function queryObject(request: Request, lists: ReadonlySet<string>): Record<string, string | string[]> {
  const { searchParams } = new URL(request.url);
  const entries = new Map<string, string | string[]>();
  for (const [name, value] of searchParams) {
    if (lists.has(name)) {
      entries.set(name, searchParams.getAll(name));
      continue;
    }
    if (entries.has(name)) {
      throw new LockstepError("bad-request", `query.${name} is given twice; give it once.`, {
        details: { field: `query.${name}` },
      });
    }
    entries.set(name, value);
  }
  return Object.fromEntries(entries);
}
