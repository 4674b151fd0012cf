/**
 * What the environment says, checked once: the only reader of process.env.
 *
 * Holds: a wrong value stops the start with its name, what was found and what would do; nothing is guessed.
 */
import { z } from "zod";

const port = z
  .string()
  .regex(/^\d{1,5}$/, "must be a port number")
  .transform(Number)
  .pipe(z.int().min(0).max(65_535));

const numberWithin = (pattern: RegExp, what: string, min: number, max: number) =>
  z
    .string()
    .regex(pattern, `must be ${what}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be ${what}`);

/** What a worker may also be told by its flags. */
export const workerSettings = {
  slots: numberWithin(/^\d{1,4}$/, "a whole number from 1 to 1000", 1, 1_000),
  highRatio: numberWithin(/^\d(\.\d{1,6})?$/, "a number from 0 to 1, as 0.8", 0, 1),
  priorityThreshold: numberWithin(/^\d$/, "a whole number from 0 to 4", 0, 4),
};

const environment = z.object({
  /** `file:PATH` for SQLite, `postgresql://…` for PostgreSQL. */
  DATABASE_URL: z
    .string()
    .regex(/^(file:.+|postgres(ql)?:\/\/.+)$/, "must be file:PATH or postgresql://USER@HOST/DATABASE")
    .default("file:.lockstep/lockstep.db"),
  PORT: port.default(3000),
  HOST: z.string().min(1).default("127.0.0.1"),
  /** Connections to PostgreSQL held by one process. */
  DATABASE_CONNECTIONS: z
    .string()
    .regex(/^\d{1,3}$/, "must be a whole number from 2 to 200")
    .transform(Number)
    .pipe(z.int().min(2).max(200))
    .default(10),
  /** `off`: a new database starts without the examples. */
  LOCKSTEP_SEEDS: z.enum(["on", "off"]).default("on"),
  /** Hosts, or host:port, separated by commas, that HTTP tasks may reach though their addresses are not public. */
  LOCKSTEP_HTTP_ALLOW: z
    .string()
    .transform((text) =>
      text
        .split(",")
        .map((host) => host.trim().toLowerCase())
        .filter((host) => host !== ""),
    )
    .default([]),
  /** Where instances that retention removes are written to first; on the machine of the worker that does it. */
  LOCKSTEP_ARCHIVE: z.string().min(1).default(".lockstep/archive"),
  /** `off`: no LISTEN and NOTIFY on PostgreSQL, as behind a pooler that knows none; workers then find work by looking. */
  LOCKSTEP_HINTS: z.enum(["on", "off"]).default("on"),
  /** Tasks that one process carries out at once by itself; another's workers have slots of their own. */
  LOCKSTEP_SLOTS: workerSettings.slots.default(4),
  /** With this probability a claim takes the urgent first: instances and tasks of this priority or more, a minute's wait being one. */
  LOCKSTEP_HIGH_RATIO: workerSettings.highRatio.default(0.8),
  LOCKSTEP_PRIORITY_THRESHOLD: workerSettings.priorityThreshold.default(2),
  /** Only for authoring migrations: `prisma migrate diff --from-migrations` on PostgreSQL builds them up in it. */
  SHADOW_DATABASE_URL: z.string().min(1).optional(),
});

export interface Config {
  databaseUrl: string;
  database: "sqlite" | "postgresql";
  /** For people: which database, never its password. */
  databaseName: string;
  databaseConnections: number;
  port: number;
  host: string;
  seeds: boolean;
  httpAllowedHosts: string[];
  /** LOCKSTEP_SECRET_NAME by NAME: what HTTP tasks refer to as {secret: NAME}. */
  secrets: ReadonlyMap<string, string>;
  archiveFolder: string;
  hints: boolean;
  slots: number;
  fairness: { highRatio: number; priorityThreshold: number };
  shadowDatabaseUrl: string | undefined;
}

/** Throws Error naming every variable that is wrong. */
export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = environment.safeParse(present);
  if (!parsed.success) {
    const wrong = parsed.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`);
    throw new Error(`The environment is not as it should be: ${wrong.join("; ")}.`);
  }
  const values = parsed.data;
  return {
    databaseUrl: values.DATABASE_URL,
    database: values.DATABASE_URL.startsWith("file:") ? "sqlite" : "postgresql",
    databaseName: databaseName(values.DATABASE_URL),
    databaseConnections: values.DATABASE_CONNECTIONS,
    port: values.PORT,
    host: values.HOST,
    seeds: values.LOCKSTEP_SEEDS === "on",
    httpAllowedHosts: values.LOCKSTEP_HTTP_ALLOW,
    secrets: secretsOf(present),
    archiveFolder: values.LOCKSTEP_ARCHIVE,
    hints: values.LOCKSTEP_HINTS === "on",
    slots: values.LOCKSTEP_SLOTS,
    fairness: {
      highRatio: values.LOCKSTEP_HIGH_RATIO,
      priorityThreshold: values.LOCKSTEP_PRIORITY_THRESHOLD,
    },
    shadowDatabaseUrl: values.SHADOW_DATABASE_URL,
  };
}

const secretPrefix = "LOCKSTEP_SECRET_";
const secretsOf = (env: Record<string, string | undefined>): Map<string, string> =>
  new Map(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith(secretPrefix) && value !== undefined ? [[name.slice(secretPrefix.length), value]] : [],
    ),
  );

function databaseName(url: string): string {
  if (url.startsWith("file:")) return `SQLite (${url.slice("file:".length)})`;
  const { host, pathname } = new URL(url);
  return `PostgreSQL (${host}${pathname})`;
}
