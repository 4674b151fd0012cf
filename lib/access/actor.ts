/**
 * Who asks, and what they may do. Every runtime verb takes an Actor; what is not granted is denied.
 */
export const permissions = [
  "charts:read",
  "charts:write",
  "charts:publish",
  "instances:read",
  "instances:start",
  "instances:control",
  "events:send",
  "locks:read",
  "locks:use",
  "locks:force",
  "tasks:read",
  "tasks:work",
  "system:read",
] as const;
export type Permission = (typeof permissions)[number];

export interface Actor {
  /** Shown in logs and audit, e.g. `local`. */
  id: string;
  kind: "local" | "system";
  permissions: ReadonlySet<Permission>;
}

/** The only actor until sign-in exists: a person at this very machine (the server binds to 127.0.0.1 alone). */
export const localActor: Actor = { id: "local", kind: "local", permissions: new Set(permissions) };
/** Workers of this runtime: timers and sweeps act in its name. */
export const systemActor: Actor = { id: "system", kind: "system", permissions: new Set(permissions) };
/** Nobody: holds no permission. */
export const anonymousActor: Actor = { id: "anonymous", kind: "system", permissions: new Set() };

export const may = (actor: Actor, permission: Permission): boolean => actor.permissions.has(permission);
