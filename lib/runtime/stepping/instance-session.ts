/**
 * An instance session: for a short time one caller's events alone are applied to an instance.
 *
 *   open → renewed … → ended by its holder, by its time, or by the end or halt of the instance
 *
 * Holds: the row says whether one is open, so that whoever holds the row knows. A timer row says when to look again: what
 *        waited meanwhile goes on then, though nobody ends the session.
 */
import { LockstepError } from "@/lib/base/errors";
import type { InstanceRow, TimerRow } from "@/lib/store/instances";
import { isEnded, takesMessages } from "../instances/instance-views";
import { instanceEnded, wrongStatus } from "../refusals";

export interface Session {
  /** Who has it may send. Never shown. */
  token: string;
  holder: string;
  actor: string;
  openedAt: number;
  until: number;
  /** However often it is renewed. */
  holdUntil: number;
}

/** The one that is open at `now`. */
export function sessionOf(row: Pick<InstanceRow, "session">, now: number): Session | null {
  if (row.session === null) return null;
  const session = JSON.parse(row.session) as Session;
  return session.until > now ? session : null;
}

export const renewed = (session: Session, ttlMs: number, now: number): Session => ({
  ...session,
  until: Math.min(Math.max(session.until, now + ttlMs), session.holdUntil),
});

/** No engine makes such an id. */
const timerId = "$session";
export const sessionTimer = (row: InstanceRow, session: Session): TimerRow => ({
  instanceId: row.id,
  timerId,
  incarnation: row.incarnation,
  dueAt: session.until,
  kind: "session",
  state: null,
  label: session.holder,
  priority: row.priority,
});
export const noSessionTimer = (row: InstanceRow) => ({ instanceId: row.id, timerId });

/** Null when a send with this token (undefined: none) may go on. An outsider who waits may, into the mailbox. */
export function sessionRefusal(
  row: InstanceRow,
  now: number,
  { token, waits }: { token: string | undefined; waits: boolean },
): LockstepError | null {
  const open = sessionOf(row, now);
  if (token !== undefined) return open?.token === token ? null : sessionLost(row.id);
  return open && !waits ? instanceInSession(row.id, open) : null;
}

/** Throws unless a session can be opened: the instance takes events, and no other one is open. */
export function requireOpenable(row: InstanceRow, now: number): void {
  if (isEnded(row.status)) throw instanceEnded(row);
  if (!takesMessages(row.status)) throw wrongStatus(row, "a session", ["running"]);
  const open = sessionOf(row, now);
  if (open) throw instanceInSession(row.id, open);
}

export const instanceInSession = (instanceId: string, { holder, until }: Session): LockstepError =>
  new LockstepError(
    "instance-session",
    `Instance ${instanceId} is in a session of ${holder} until ${new Date(until).toISOString()} at the latest, if it is not renewed. Give waitMs to wait in its mailbox, or try again.`,
    { retry: "later", details: { instanceId, holder, expiresAt: until } },
  );

export const sessionLost = (instanceId: string): LockstepError =>
  new LockstepError(
    "lease-lost",
    `Nothing was applied: instance ${instanceId} has no open session with this token; it is over, or never was. Read its state, open another session and decide anew.`,
    { details: { instanceId } },
  );
