/**
 * The tables as data, and the statements for many rows made from them. Names are camel case here, snake case there.
 *
 * Holds: a batch costs one statement per table, its text made once; PostgreSQL takes all rows as one parameter, SQLite runs
 *        the prepared text row by row (statement.ts).
 */
import { must } from "@/lib/base/assert";
import { rankPerTierMs } from "../instances";
import { raw, type Handle, type RowStatement, type Sql } from "./statement";
import type { ColumnType, Columns, Dialect } from "./dialect";

export interface Table {
  readonly name: Sql;
  readonly columns: Columns;
  /** `chart_id AS "chartId", …` of every column, for a SELECT from this table alone. */
  readonly all: Sql;
  /** The same of some columns. */
  pick(...names: string[]): Sql;
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const columnName = (name: string): string => `"${snake(name)}"`;

function table(name: string, columns: Columns): Table {
  const pick = (...names: string[]): Sql =>
    raw(names.map((each) => `"${name}".${columnName(each)} AS "${each}"`).join(", "));
  return { name: raw(`"${name}"`), columns, all: pick(...Object.keys(columns)), pick };
}

export const charts = table("charts", {
  id: "text",
  draftText: "text",
  draftLayout: "text",
  revision: "int",
  savedAt: "bigint",
  savedBy: "text",
  version: "int",
  createdAt: "bigint",
  updatedAt: "bigint",
  updatedBy: "text",
  changeTx: "change",
  changeN: "int",
});
export const chartVersions = table("chart_versions", {
  chartId: "text",
  version: "int",
  text: "text",
  hash: "text",
  layout: "text",
  note: "text",
  publishedAt: "bigint",
  publishedBy: "text",
  revision: "int",
});
export const instances = table("instances", {
  id: "text",
  incarnation: "int",
  status: "text",
  chartId: "text",
  version: "int",
  semantics: "int",
  seq: "bigint",
  at: "bigint",
  priority: "int",
  rank: "bigint",
  businessKey: "text",
  partition: "int",
  configuration: "text",
  snapshot: "text",
  stateHash: "text",
  snapshotSeq: "bigint",
  logBytes: "int",
  lastEvent: "text",
  errorCode: "text",
  errorMessage: "text",
  createdAt: "bigint",
  updatedAt: "bigint",
  endedAt: "bigint",
  deletedAt: "bigint",
  session: "text",
  parent: "text",
  concurrencyKey: "text",
});
export const instanceLabels = table("instance_labels", { instanceId: "text", key: "text", value: "text" });
export const instanceFields = table("instance_fields", {
  instanceId: "text",
  field: "text",
  chartId: "text",
  value: "text",
});
export const instanceStates = table("instance_states", { instanceId: "text", state: "text" });
export const eventLog = table("event_log", {
  instanceId: "text",
  seq: "bigint",
  incarnation: "int",
  kind: "text",
  type: "text",
  input: "text",
  at: "bigint",
  actor: "text",
  cause: "text",
  messageId: "text",
  dedupeKey: "text",
  outcome: "text",
  reason: "text",
  status: "text",
  chartId: "text",
  version: "int",
  semantics: "int",
  exited: "text",
  entered: "text",
  patch: "text",
  stateHash: "text",
  trace: "text",
  logs: "text",
  errorCode: "text",
  errorMessage: "text",
  changeTx: "change",
  changeN: "int",
});
export const snapshots = table("snapshots", {
  instanceId: "text",
  seq: "bigint",
  incarnation: "int",
  at: "bigint",
  version: "int",
  text: "text",
  hash: "text",
});
export const mailbox = table("mailbox", {
  instanceId: "text",
  enqueuedTx: "change",
  enqueuedN: "int",
  incarnation: "int",
  messageId: "text",
  type: "text",
  input: "text",
  actor: "text",
  cause: "text",
  enqueuedAt: "bigint",
  dedupeScope: "text",
  dedupeKey: "text",
  expectedSeq: "bigint",
  fences: "text",
  rank: "rank",
  parked: "int",
});
export const deadLetters = table("dead_letters", {
  instanceId: "text",
  messageId: "text",
  incarnation: "int",
  type: "text",
  input: "text",
  actor: "text",
  cause: "text",
  enqueuedAt: "bigint",
  at: "bigint",
  reason: "text",
  retriedAs: "text",
});
export const dedupeResults = table("dedupe_results", {
  scope: "text",
  key: "text",
  digest: "text",
  messageId: "text",
  result: "text",
  at: "bigint",
});
export const timers = table("timers", {
  instanceId: "text",
  timerId: "text",
  incarnation: "int",
  dueAt: "bigint",
  kind: "text",
  state: "text",
  label: "text",
  priority: "int",
  parked: "int",
});
export const tasks = table("tasks", {
  instanceId: "text",
  taskId: "text",
  incarnation: "int",
  invokeId: "text",
  generation: "int",
  state: "text",
  kind: "text",
  type: "text",
  status: "text",
  queue: "text",
  condition: "text",
  input: "text",
  priority: "int",
  rank: "bigint",
  readyAt: "bigint",
  attempt: "int",
  attemptsMax: "int",
  fence: "int",
  retry: "text",
  timeoutMs: "bigint",
  attemptUntil: "bigint",
  overallUntil: "bigint",
  dueAt: "bigint",
  worker: "text",
  token: "text",
  leaseUntil: "bigint",
  progress: "text",
  concurrencyKey: "text",
  compensate: "text",
  result: "text",
  error: "text",
  lost: "int",
  createdAt: "bigint",
  startedAt: "bigint",
  updatedAt: "bigint",
  endedAt: "bigint",
});
export const children = table("children", {
  parentId: "text",
  parentIncarnation: "int",
  parentTask: "text",
  place: "int",
  childId: "text",
  status: "text",
  result: "text",
  error: "text",
});
export const concurrencyWaits = table("concurrency_waits", {
  scope: "text",
  key: "text",
  since: "bigint",
  instanceId: "text",
  then: "text",
});
export const concurrencyKeys = table("concurrency_keys", {
  scope: "text",
  key: "text",
  instanceId: "text",
  taskId: "text",
  since: "bigint",
  free: "int",
});
export const workers = table("workers", {
  id: "text",
  session: "text",
  kind: "text",
  types: "text",
  slots: "int",
  running: "int",
  draining: "int",
  note: "text",
  startedAt: "bigint",
  seenAt: "bigint",
  stepping: "text",
  lostAt: "bigint",
});
export const suspects = table("suspects", {
  instanceId: "text",
  item: "text",
  deaths: "int",
  at: "bigint",
});
export const locks = table("locks", {
  key: "text",
  fence: "bigint",
  holder: "text",
  session: "text",
  acquiredAt: "bigint",
  renewedAt: "bigint",
  expiresAt: "bigint",
  ttlMs: "int",
  expired: "int",
  logSeq: "bigint",
  nextTicket: "bigint",
  rejectedWrites: "int",
  holdUntil: "bigint",
  coolMs: "int",
  coolUntil: "bigint",
  coolSession: "text",
});
export const lockLog = table("lock_log", {
  key: "text",
  seq: "bigint",
  type: "text",
  at: "bigint",
  fence: "bigint",
  holder: "text",
  session: "text",
  actor: "text",
  reason: "text",
  details: "text",
  changeTx: "change",
  changeN: "int",
});
export const lockCommands = table("lock_commands", {
  key: "text",
  scope: "text",
  idem: "text",
  digest: "text",
  result: "text",
  at: "bigint",
});
export const lockWaiters = table("lock_waiters", {
  key: "text",
  ticket: "bigint",
  session: "text",
  holder: "text",
  actor: "text",
  ttlMs: "int",
  since: "bigint",
  givesUpAt: "bigint",
  heartbeatAt: "bigint",
  keys: "text",
  holdMaxMs: "int",
  coolMs: "int",
});

export const retention = table("retention", {
  rule: "text",
  keepMs: "bigint",
  then: "text",
  updatedAt: "bigint",
  updatedBy: "text",
  cursor: "text",
  walkBegan: "bigint",
  walkEnded: "bigint",
  removed: "bigint",
  purgedTx: "bigint",
});
export const doomedLogs = table("doomed_logs", {
  instanceId: "text",
  upToSeq: "bigint",
  deletedAt: "bigint",
  atOnce: "int",
});
export const fleetDeltas = table("fleet_deltas", {
  chartId: "text",
  version: "int",
  state: "text",
  minute: "bigint",
  entered: "int",
  left: "int",
  total: "int",
});
export const fleetTotals = table("fleet_totals", {
  chartId: "text",
  version: "int",
  state: "text",
  total: "int",
});
export const fleetMinutes = table("fleet_minutes", { minute: "bigint", fromTx: "bigint", toTx: "bigint" });

export const schedules = table("schedules", {
  id: "text",
  revision: "int",
  cron: "text",
  timeZone: "text",
  action: "text",
  chartId: "text",
  misfire: "text",
  misfireMax: "int",
  paused: "int",
  nextAt: "bigint",
  ticks: "bigint",
  createdAt: "bigint",
  createdBy: "text",
  updatedAt: "bigint",
  updatedBy: "text",
});
export const scheduleTicks = table("schedule_ticks", {
  scheduleId: "text",
  tick: "text",
  n: "bigint",
  dueAt: "bigint",
  at: "bigint",
  outcome: "text",
  missed: "int",
  actor: "text",
  instanceId: "text",
  messageId: "text",
  errorCode: "text",
  errorMessage: "text",
});
export const batches = table("batches", {
  id: "text",
  name: "text",
  verb: "text",
  args: "text",
  selection: "text",
  status: "text",
  ratePerSecond: "int",
  total: "int",
  ok: "int",
  refused: "int",
  skipped: "int",
  cursor: "text",
  nextAt: "bigint",
  token: "text",
  createdAt: "bigint",
  createdBy: "text",
  endedAt: "bigint",
});
export const batchItems = table("batch_items", {
  batchId: "text",
  place: "int",
  instanceId: "text",
  status: "text",
  attempts: "int",
  code: "text",
  message: "text",
  at: "bigint",
});

export const audit = table("audit", {
  id: "text",
  at: "bigint",
  actor: "text",
  action: "text",
  target: "text",
  outcome: "text",
  details: "text",
});

/** What the database itself gives is not among the parameters. */
function given(dialect: Dialect, type: ColumnType | undefined): string | null {
  if (type === "change") return dialect.changeTx.sql;
  if (type !== "rank") return null;
  return `${dialect.cell("enqueuedAt")} - ${rankPerTierMs} * COALESCE((SELECT i."priority" FROM "instances" AS i WHERE i."id" = ${dialect.cell("instanceId")}), 0)`;
}

type Kind = "insert" | "update" | "delete";
const statements: Record<Dialect["provider"], Map<string, RowStatement>> = {
  sqlite: new Map(),
  postgresql: new Map(),
};
function once(
  dialect: Dialect,
  kind: Kind,
  table: Table,
  rest: string,
  make: () => RowStatement,
): RowStatement {
  const name = `${kind} ${table.name.sql} ${rest}`;
  let statement = statements[dialect.provider].get(name);
  if (!statement) {
    statement = make();
    statements[dialect.provider].set(name, statement);
  }
  return statement;
}

/** Rows get another value of a column that is part of their `key`: `become`, given as `from` and `to`. */
export function renameOf(
  dialect: Dialect,
  table: Table,
  key: readonly string[],
  become: string,
): RowStatement {
  return once(dialect, "update", table, `${key.join()} to ${become}`, () => {
    const same = key.map((name) => `${table.name.sql}.${columnName(name)} = ${dialect.cell(name)}`);
    const was = `${table.name.sql}.${columnName(become)} = ${dialect.cell("from")}`;
    const rows = dialect.rowsTable({ ...typesOf(table, key), from: "text", to: "text" });
    return {
      table: table.name.sql,
      text: `UPDATE ${table.name.sql} SET ${columnName(become)} = ${dialect.cell("to")} ${rows === null ? "" : `FROM ${rows}`} WHERE ${[...same, was].join(" AND ")}`,
    };
  });
}

/** Inserts rows; `onConflict` is an ON CONFLICT clause. */
export function insertInto(dialect: Dialect, table: Table, onConflict = ""): RowStatement {
  return once(dialect, "insert", table, onConflict, () => {
    const all = Object.keys(table.columns);
    const taken = all.filter((name) => given(dialect, table.columns[name]) === null);
    const values = all.map((name) => given(dialect, table.columns[name]) ?? dialect.cell(name));
    const into = `INSERT INTO ${table.name.sql} (${all.map(columnName).join(", ")})`;
    return {
      table: table.name.sql,
      text: `${into} ${dialect.fromRows(values, typesOf(table, taken))} ${onConflict}`,
    };
  });
}

/** Sets `set` of the rows that have the same `key`; a change column among them gets the transaction's number. */
export function updateOf(
  dialect: Dialect,
  table: Table,
  key: readonly string[],
  set: readonly string[],
): RowStatement {
  return once(dialect, "update", table, `${key.join()} ${set.join()}`, () => {
    const taken = set.filter((name) => given(dialect, table.columns[name]) === null);
    const value = (name: string) => given(dialect, table.columns[name]) ?? dialect.cell(name);
    const assignments = set.map((name) => `${columnName(name)} = ${value(name)}`).join(", ");
    const matches = key
      .map((name) => `${table.name.sql}.${columnName(name)} = ${dialect.cell(name)}`)
      .join(" AND ");
    const rows = dialect.rowsTable(typesOf(table, [...taken, ...key]));
    return {
      table: table.name.sql,
      text: `UPDATE ${table.name.sql} SET ${assignments} ${rows === null ? "" : `FROM ${rows}`} WHERE ${matches}`,
    };
  });
}

/** Deletes the rows that have the same `key`. */
export function deleteFrom(dialect: Dialect, table: Table, key: readonly string[]): RowStatement {
  return once(dialect, "delete", table, key.join(), () => {
    const matches = key
      .map((name) => `${table.name.sql}.${columnName(name)} = ${dialect.cell(name)}`)
      .join(" AND ");
    const rows = dialect.rowsTable(typesOf(table, key));
    return {
      table: table.name.sql,
      text: `DELETE FROM ${table.name.sql} ${rows === null ? "" : `USING ${rows}`} WHERE ${matches}`,
    };
  });
}

/** A place in the order of transactions is a number when it is looked for. */
const typesOf = (table: Table, names: readonly string[]): Columns =>
  Object.fromEntries(
    names.map((name) => {
      const type = must(table.columns[name], `no column ${name}`);
      return [name, type === "change" ? "bigint" : type] as const;
    }),
  );

export async function insertRows(
  handle: Handle,
  dialect: Dialect,
  into: Table,
  rows: readonly object[],
  onConflict?: string,
): Promise<number> {
  return rows.length === 0 ? 0 : handle.executeRows(insertInto(dialect, into, onConflict), rows);
}

export async function updateRows(
  handle: Handle,
  dialect: Dialect,
  target: Table,
  key: readonly string[],
  set: readonly string[],
  rows: readonly object[],
): Promise<number> {
  return rows.length === 0 ? 0 : handle.executeRows(updateOf(dialect, target, key, set), rows);
}

export async function deleteRows(
  handle: Handle,
  dialect: Dialect,
  from: Table,
  key: readonly string[],
  rows: readonly object[],
): Promise<number> {
  return rows.length === 0 ? 0 : handle.executeRows(deleteFrom(dialect, from, key), rows);
}
