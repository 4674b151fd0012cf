/**
 * One error shape for every failure, and the one place that turns an unexpected one into a sentence without its insides.
 */
import { LockstepError } from "@/lib/base/errors";
import { statusOf, type ErrorBody } from "@/lib/contract/common";
import { logError } from "@/lib/observe/log";

export function errorResponse(error: unknown, about: string): Response {
  const told = error instanceof LockstepError ? error : internal(error, about);
  const body: ErrorBody = {
    error: { code: told.code, message: told.message, retry: told.retry, details: told.details },
  };
  const headers: Record<string, string> = { "Cache-Control": "no-store" };
  const allowed = told.details["allowed"];
  if (told.code === "method-not-allowed" && Array.isArray(allowed))
    headers["Allow"] = allowed.map(String).join(", ");
  const { retryAfterMs } = told.details;
  if (statusOf[told.code] === 503)
    headers["Retry-After"] = typeof retryAfterMs === "number" ? `${Math.ceil(retryAfterMs / 1_000)}` : "1";
  return Response.json(body, { status: statusOf[told.code], headers });
}

function internal(error: unknown, about: string): LockstepError {
  const reference = crypto.randomUUID().slice(0, 8);
  logError(`${about} failed`, error, { reference });
  return new LockstepError(
    "internal",
    `Something in Lockstep broke while answering ${about}. The server's log has the details under ${reference}.`,
    { retry: "later", details: { reference } },
  );
}
