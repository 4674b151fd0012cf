/**
 * A request's JSON body within bounds.
 *
 * Holds: at most `bytesMax` bytes are held, whatever Content-Length says; nesting stays under `depthMax`; a `__proto__`
 * key is refused, and so is a number that would be stored as another one; errors name the place.
 */
import { LockstepError } from "@/lib/base/errors";

/** 200: deeper than any payload that a person wrote, shallow enough for every recursive reader behind this door. */
const depthMax = 200;

/** `whenEmpty`: what no body at all stands for; undefined: that is an error. */
export async function readJsonBody(request: Request, bytesMax: number, whenEmpty?: object): Promise<unknown> {
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const notJson = () =>
    new LockstepError(
      "unsupported-media-type",
      `The body must be JSON: send Content-Type: application/json, not "${type.slice(0, 100)}".`,
    );
  const isJson = type === "application/json";
  if (!isJson && !whenEmpty) throw notJson();
  const text = await readText(request, bytesMax);
  if (whenEmpty && text === "") return whenEmpty;
  if (!isJson) throw notJson();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new LockstepError("bad-request", `The body isn't JSON: ${(error as Error).message}.`);
  }
  checkShape(value);
  return value;
}

async function readText(request: Request, bytesMax: number): Promise<string> {
  const tooLarge = () =>
    new LockstepError("payload-too-large", `The body is larger than ${bytesMax} bytes. Nothing was done.`, {
      details: { bytesMax },
    });
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge();
  if (!request.body) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new LockstepError("bad-request", "The body isn't UTF-8.");
  }
}

function checkShape(root: unknown): void {
  const stack: { value: unknown; depth: number }[] = [{ value: root, depth: 1 }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    if (typeof next.value === "number") requireExact(next.value);
    if (typeof next.value !== "object" || next.value === null) continue;
    if (next.depth > depthMax) {
      throw new LockstepError("bad-request", `The body is nested deeper than ${depthMax} levels.`, {
        details: { depthMax },
      });
    }
    if (Object.hasOwn(next.value, "__proto__")) {
      throw new LockstepError("bad-request", 'The body has a key "__proto__", which is refused everywhere.');
    }
    for (const value of Object.values(next.value)) stack.push({ value, depth: next.depth + 1 });
  }
}

/** A whole number beyond ±(2⁵³−1), or one too large for a double, would be stored as another number. */
function requireExact(value: number): void {
  if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return;
  throw new LockstepError(
    "bad-request",
    `The body has a number that can't be kept exactly (${value}): whole numbers go to ±${Number.MAX_SAFE_INTEGER}. Send it as text.`,
  );
}
