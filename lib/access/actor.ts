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
  "schedules:read",
  "schedules:write",
  "system:read",
  "system:control",
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
/** A schedule at its tick; who wrote the schedule had to hold the permissions for what it does. */
export const scheduleActor = (scheduleId: string): Actor => ({
  id: `schedule:${scheduleId}`,
  kind: "system",
  permissions: new Set(["instances:start", "events:send"]),
});
/** Nobody: holds no permission. */
export const anonymousActor: Actor = { id: "anonymous", kind: "system", permissions: new Set() };

export const may = (actor: Actor, permission: Permission): boolean => actor.permissions.has(permission);
