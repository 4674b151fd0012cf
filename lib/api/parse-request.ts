/**
 * A matched request → the arguments of its verb, checked by the contract's schemas.
 *
 * Holds: unknown query parameters and unknown body fields are errors, never "everything"; messages name the field.
 */
import type { z } from "zod";
import { LockstepError } from "@/lib/base/errors";
import { idempotencyHeader, idempotencyKey, type Endpoint } from "@/lib/contract/endpoints";
import { readJsonBody } from "./read-body";

export async function parseRequest(
  endpoint: Endpoint,
  request: Request,
  pathParams: Record<string, string>,
): Promise<Record<string, unknown>> {
  const params = check(endpoint.params, pathParams, "path");
  const query = check(endpoint.query, queryObject(request), "query");
  const body = endpoint.body
    ? check(endpoint.body, await readJsonBody(request, endpoint.bodyBytesMax), "body")
    : {};
  const args = Object.assign({}, query, body, params) as Record<string, unknown>;
  const key = request.headers.get(idempotencyHeader);
  if (key === null) return args;
  if (!endpoint.idempotent) {
    throw new LockstepError(
      "bad-request",
      `${idempotencyHeader} has no meaning for ${endpoint.method} ${endpoint.path}.`,
    );
  }
  return { ...args, idempotencyKey: check(idempotencyKey, key, idempotencyHeader) };
}

function queryObject(request: Request): Record<string, string> {
  const entries = new Map<string, string>();
  for (const [name, value] of new URL(request.url).searchParams) {
    if (entries.has(name)) {
      throw new LockstepError("bad-request", `query.${name} is given twice; give it once.`, {
        details: { field: `query.${name}` },
      });
    }
    entries.set(name, value);
  }
  return Object.fromEntries(entries);
}

function check(schema: z.ZodType, value: unknown, where: string): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues
    .flatMap(meant)
    .slice(0, 10)
    .map((issue) => {
      const unknownKeys = issue.code === "unrecognized_keys" ? issue.keys : null;
      const path = [where, ...issue.path.map(String), ...(unknownKeys?.slice(0, 1) ?? [])].join(".");
      return { field: path, message: unknownKeys ? "isn't a field of this call" : issue.message };
    });
  const text = issues.map((issue) => `${issue.field}: ${issue.message}`).join("; ");
  throw new LockstepError("bad-request", `${text}.`, {
    details: { field: issues[0]?.field ?? where, issues },
  });
}

/** Of several shapes none fits: when one of them is what was meant, as its own names tell, what is wrong within it. */
function meant(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const within = issue.errors.find((all) => all.length > 0 && all.every(({ path }) => path.length > 1));
  if (!within) return [issue];
  return within.flatMap((each) => meant({ ...each, path: [...issue.path, ...each.path] }));
}
