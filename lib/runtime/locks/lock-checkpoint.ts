/** The entry that takes the place of a lock log's oldest ones: all that they come to (I7). */
import { must } from "@/lib/base/assert";
import type { LockLogRow } from "@/lib/store/locks";
import { foldLockLog } from "./lock-rules";
import type { LockDetails } from "./lock-views";

/** `prefix`: the log's first entries, oldest first, a former checkpoint among them. */
export function checkpointOf(key: string, prefix: readonly LockLogRow[]): LockLogRow {
  const last = must(prefix.at(-1), "a prefix has entries");
  const { logSeq, fence, holder, session, ...row } = foldLockLog(key, prefix);
  const { key: _key, ...details } = row;
  return {
    key,
    seq: logSeq,
    type: "CHECKPOINT",
    at: last.at,
    fence,
    holder,
    session,
    actor: "system",
    reason: null,
    details: JSON.stringify(details satisfies LockDetails),
  };
}
