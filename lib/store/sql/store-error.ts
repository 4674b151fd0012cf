/**
 * What went wrong in the database, in the product's words.
 *
 * Holds: nothing is retried that might have been committed; an unknown failure stays as it is (a defect, shown as one).
 */
import { LockstepError } from "@/lib/base/errors";

/** `worked`: the transaction's statements had succeeded, so the failure came from its COMMIT. */
export function asStoreError(error: unknown, worked = false): unknown {
  if (error instanceof LockstepError) return error;
  const found = describe(error);
  switch (found.kind) {
    case "busy":
      return new LockstepError("database-busy", `The database is busy: ${found.message}. Try again.`, {
        retry: "later",
        cause: error,
      });
    case "concurrency":
      return new LockstepError(
        "database-busy",
        `Another transaction was in the way: ${found.message}. Try again.`,
        { retry: "later", details: { concurrency: true }, cause: error },
      );
    case "full":
      return new LockstepError(
        "database-full",
        `The database has no room left: ${found.message}. Nothing was stored; make room, then repeat the call.`,
        { retry: "later", cause: error },
      );
    case "read-only":
      return new LockstepError(
        "database-unavailable",
        `The database takes no writes: ${found.message}. Nothing was stored.`,
        { retry: "later", cause: error },
      );
    case "data":
      return new LockstepError(
        "bad-request",
        `The database can't hold a value of this call: ${found.message}. Nothing was stored.`,
        { cause: error },
      );
    case "unreachable":
      return worked
        ? new LockstepError(
            "outcome-unknown",
            `The connection was lost while the transaction committed: ${found.message}. Repeat the call with its Idempotency-Key.`,
            { retry: "later", cause: error },
          )
        : new LockstepError("database-unavailable", `The database cannot be reached: ${found.message}.`, {
            retry: "later",
            cause: error,
          });
    default:
      return error;
  }
}

/** Deadlock or serialisation failure: rolled back by the database, safe to run again. */
export const isConcurrencyFailure = (error: unknown): boolean =>
  error instanceof LockstepError && error.details["concurrency"] === true;

type Kind = "busy" | "concurrency" | "full" | "read-only" | "data" | "unreachable" | "other";

function describe(error: unknown): { kind: Kind; message: string } {
  for (const link of chainOf(error)) {
    const code = textOf(link, "originalCode") || textOf(link, "code");
    const message = textOf(link, "originalMessage") || textOf(link, "message");
    const kind = kindOfCode(code) ?? kindOfAdapter(textOf(link, "kind")) ?? kindOfPrisma(code, message);
    if (kind) return { kind, message };
  }
  return { kind: "other", message: String(error) };
}

function kindOfCode(code: string): Kind | null {
  if (code === "40P01" || code === "40001") return "concurrency";
  // Lock and statement timeouts, too many connections.
  if (code === "55P03" || code === "57014" || code === "53300" || code.startsWith("SQLITE_BUSY"))
    return "busy";
  // A quota, or a limit of the file's size, is told as a write that failed.
  if (code === "53100" || code === "SQLITE_FULL" || code === "SQLITE_IOERR_WRITE") return "full";
  if (code === "25006" || code.startsWith("SQLITE_READONLY")) return "read-only";
  // Class 22: a character or a number that is not of the column's type.
  if (/^22[0-9A-Z]{3}$/.test(code)) return "data";
  // Class 08: connection; 28: refused at the door; 3D000: no such database; 57P0x: shut down, crashed, starting; 25P03: idle in
  // transaction too long.
  if (/^(08|28|3D000|57P0)/.test(code) || code === "25P03" || networkCodes.has(code)) return "unreachable";
  return null;
}
const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EHOSTUNREACH",
]);

function kindOfAdapter(kind: string): Kind | null {
  switch (kind) {
    case "TransactionWriteConflict":
      return "concurrency";
    case "SocketTimeout":
    case "TooManyConnections":
      return "busy";
    case "DatabaseNotReachable":
    case "ConnectionClosed":
      return "unreachable";
    default:
      return null;
  }
}

function kindOfPrisma(code: string, message: string): Kind | null {
  if (code === "P1001" || code === "P1002" || code === "P1017") return "unreachable";
  if (/Connection terminated|Client has encountered a connection error/.test(message)) return "unreachable";
  // P2024, P2028: no connection or no end of the transaction within the time allowed.
  if (code === "P2024" || (code === "P2028" && /Unable to start|timeout|expired/i.test(message)))
    return "busy";
  return null;
}

/** Prisma wraps the adapter's error, which wraps the driver's. */
function* chainOf(error: unknown): Generator<object> {
  const queue: unknown[] = [error];
  for (let linksMax = 10; queue.length > 0 && linksMax > 0; linksMax -= 1) {
    const link = queue.pop();
    if (typeof link !== "object" || link === null) continue;
    yield link;
    for (const next of ["cause", "driverAdapterError", "meta"] as const) {
      if (next in link) queue.push((link as Record<string, unknown>)[next]);
    }
  }
}

function textOf(link: object, name: string): string {
  const value = (link as Record<string, unknown>)[name];
  return typeof value === "string" ? value : "";
}
