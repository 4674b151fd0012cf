/**
 * The one place where a denial is worded.
 */
import { LockstepError } from "@/lib/base/errors";
import { may, type Actor, type Permission } from "./actor";

/** Throws `forbidden` unless `actor` holds `permission`. */
export function requirePermission(actor: Actor, permission: Permission): void {
  if (may(actor, permission)) return;
  throw new LockstepError(
    "forbidden",
    `${actor.id} may not do this: it needs the permission ${permission}.`,
    {
      details: { permission, actor: actor.id },
    },
  );
}
