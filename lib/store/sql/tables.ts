/**
 * The tables as data, and the four set-based statements made from them. Names are camel case here, snake case there.
 *
 * Holds: any number of rows goes in one statement with one parameter, so a batch costs one round trip per table.
 */
import { must } from "@/lib/base/assert";
import { empty, join, raw, sql, type Handle, type Sql } from "./connection";
import type { Columns, Dialect } from "./dialect";

export interface Table {
  readonly name: Sql;
  readonly columns: Columns;
  /** `chart_id AS "chartId", …` of every column, for a SELECT from this table alone. */
  readonly all: Sql;
  /** The same of some columns. */
  pick(...names: string[]): Sql;
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const column = (name: string): string => `"${snake(name)}"`;

function table(name: string, columns: Columns): Table {
  const pick = (...names: string[]): Sql =>
    raw(names.map((each) => `"${name}".${column(each)} AS "${each}"`).join(", "));
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
});
export const instanceLabels = table("instance_labels", { instanceId: "text", key: "text", value: "text" });
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
});

/** Columns whose value the database gives (the transaction's number) are not in the parameter. */
const given = (columns: Columns): Columns =>
  Object.fromEntries(Object.entries(columns).filter(([, type]) => type !== "change"));

/** Inserts all rows; `onConflict` is an ON CONFLICT clause. Returns how many went in. */
export async function insertRows(
  handle: Handle,
  dialect: Dialect,
  into: Table,
  rows: readonly object[],
  onConflict: Sql = empty,
): Promise<number> {
  if (rows.length === 0) return 0;
  const names = Object.keys(into.columns);
  const values = names.map((name) =>
    into.columns[name] === "change" ? dialect.changeTx : raw(`r."${name}"`),
  );
  // "WHERE true": without it SQLite reads ON CONFLICT as a join's ON.
  return handle.execute(
    sql`INSERT INTO ${into.name} (${raw(names.map(column).join(", "))}) SELECT ${join(values)} FROM ${dialect.records(rows, given(into.columns))} WHERE true ${onConflict}`,
  );
}

/** Sets `set` of the rows that have the same `key`; a change column among them gets the transaction's number. */
export async function updateRows(
  handle: Handle,
  dialect: Dialect,
  target: Table,
  key: readonly string[],
  set: readonly string[],
  rows: readonly object[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const typeOf = (name: string) => must(target.columns[name], `no column ${name}`);
  const used = Object.fromEntries([...key, ...set].map((name) => [name, typeOf(name)]));
  const assignments = set.map((name) =>
    typeOf(name) === "change"
      ? sql`${raw(column(name))} = ${dialect.changeTx}`
      : raw(`${column(name)} = r."${name}"`),
  );
  return handle.execute(
    sql`UPDATE ${target.name} SET ${join(assignments)} FROM ${dialect.records(rows, given(used))} WHERE ${matches(target, key)}`,
  );
}

/** Deletes the rows that have the same `key`. */
export async function deleteRows(
  handle: Handle,
  dialect: Dialect,
  from: Table,
  key: readonly string[],
  rows: readonly object[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const used = Object.fromEntries(
    key.map((name) => {
      const type = must(from.columns[name], `no column ${name}`);
      // A place in the order of transactions is a number when it is looked for.
      return [name, type === "change" ? "bigint" : type] as const;
    }),
  );
  const mine = join(key.map((name) => raw(column(name))));
  const theirs = join(key.map((name) => raw(`r."${name}"`)));
  // A row value in a subquery is looked up by the primary key on both databases; a correlated EXISTS scans on SQLite.
  return handle.execute(
    sql`DELETE FROM ${from.name} WHERE (${mine}) IN (SELECT ${theirs} FROM ${dialect.records(rows, used)})`,
  );
}

function matches(target: Table, key: readonly string[]): Sql {
  return join(
    key.map((name) => sql`${target.name}.${raw(column(name))} = ${raw(`r."${name}"`)}`),
    " AND ",
  );
}
