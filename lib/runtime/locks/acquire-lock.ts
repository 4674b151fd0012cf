/**
 * The right to a name for a while: granted at once, after waiting in line, or `busy`.
 */
import type { Actor } from "@/lib/access/actor";
import { must } from "@/lib/base/assert";
import { acquireTogether, type AcquireArgs } from "./acquire-together";
import { stands } from "./lock-rules";
import type { AcquireResult } from "./lock-views";
import { requireText } from "../require-payload";
import type { RuntimeContext } from "../runtime-context";

export interface AcquireLockArgs extends AcquireArgs {
  key: string;
}

/** Throws `lock-deadlock` when waiting would close, or is the youngest in, a circle of those that wait for each other. */
export async function acquireLock(
  context: RuntimeContext,
  actor: Actor,
  args: AcquireLockArgs,
): Promise<AcquireResult> {
  const key = requireText(args.key, "key");
  return acquireTogether<AcquireResult>(context, actor, args, {
    keys: [key],
    verb: "acquire",
    args: {},
    tell: (answer) =>
      answer.result === "busy"
        ? { result: "busy", ...must(answer.locks[0], "the one key is busy") }
        : { result: "acquired", ...must(answer.locks[0], "one key"), replayed: false, valid: true },
    replay: (result, [book]) =>
      result.result === "busy"
        ? result
        : { ...result, replayed: true, valid: stands(book, args.session, result.fence) },
  });
}
