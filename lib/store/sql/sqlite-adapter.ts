/**
 * Prisma's driver adapter for SQLite, ours: one writer and one reader connection on better-sqlite3.
 *
 * Why ours: on the stock adapter a write outside an open interactive transaction lands inside it and vanishes with its
 * rollback, having reported success; and its deferred BEGIN lets processes that share the file fail each other.
 *
 * Holds: I9 one writing transaction at a time per process, begun IMMEDIATE, so that it never has to upgrade a read lock;
 *        a reader sees committed data alone; after COMMIT returned the data is on disk (synchronous FULL).
 *        Waiting for another process's write blocks the event loop for less than a millisecond at a time. Between BEGIN and
 *        COMMIT nothing is waited for.
 *        Beside other writing processes, one that has just committed leaves them room: none of them starves.
 *        A write outside the transaction that its own caller has open would wait for itself: it is an assertion error.
 */
import {
  ColumnTypeEnum,
  DriverAdapterError,
  type ArgType,
  type ColumnType,
  type SqlDriverAdapter,
  type SqlDriverAdapterFactory,
  type SqlQuery,
  type SqlResultSet,
} from "@prisma/driver-adapter-utils";
import Database from "better-sqlite3";
import { assert, must } from "@/lib/base/assert";
import { refuseInside } from "./inside-transaction";
import { writeLockOwner } from "./sqlite-lock-owner";
import { Sql, type Handle, type RowStatement, type Statement } from "./statement";
import { asStoreError } from "./store-error";

/** The path of a database that is nowhere but in this process. */
export const memoryPath = ":memory:";

export interface SqliteOptions {
  /** A file's path, or memoryPath. */
  path: string;
  /** How long to wait for another process's writing transaction before giving up with `database-busy`. */
  busyTimeoutMs: number;
  /** Tests only: pages that the file may have. */
  pagesMax?: number;
}

const adapterName = "lockstep-sqlite";
/** 1-3 ms between tries, no back-off: one that waited long must not be the last to look. */
const retryMs = () => 1 + Math.random() * 2;
/**
 * SQLite has no queue, so who has lost a race or two looks more often the longer it has waited: of two that wait, the older
 * one is next. Longer than the second is no race: whoever has the lock keeps it.
 */
const oldMs = 24;
const noRaceMs = 250;
/** Longer than any wait between tries. */
const roomMs = 4;
/** Another process that committed within this time is taken to be at work. */
const othersActiveMs = 1_000;
/** No batch holds the write lock for so long. */
const blockedLongMs = 1_000;
/** A chain of synchronous statements lets timers and sockets in at least this often. */
const yieldAfterMs = 5;
const statementsMax = 500;
/**
 * Pages (4 KB) in the log before it is carried over into the database file. Busy pages are then carried over once for many
 * commits: at SQLite's 1,000 a batch of 64 steps spent most of its commit on it (10 ms; 2 to 3 ms so).
 */
const checkpointPages = 4000;
/**
 * What the writer keeps of the database, in KiB. A B-tree that is rebalanced makes COMMIT walk through all of it (SQLite
 * borrows the number of the page at 1 GB for that): with 64 MB most commits of a batch took 1 to 2 ms instead of 0.5.
 */
const writerCacheKib = 8_000;

export interface SqliteAdapter {
  /** For Prisma: reads, and what writes alone. */
  factory: SqlDriverAdapterFactory;
  /** A writing transaction straight on the writer connection. */
  transaction<T>(work: (handle: Handle) => Promise<T>): Promise<T>;
  /** Null, or a sentence: another process has kept us from writing for longer than any batch takes. */
  trouble(): string | null;
}

export async function openSqliteAdapter({
  path,
  busyTimeoutMs,
  pagesMax,
}: SqliteOptions): Promise<SqliteAdapter> {
  const turn = new Turn();
  /** Runs `work` until no other process is in its way. */
  async function patiently<T>(work: () => T): Promise<T> {
    const began = performance.now();
    for (;;) {
      try {
        return work();
      } catch (error) {
        const waitedMs = performance.now() - began;
        if (!isBusy(error) || waitedMs > busyTimeoutMs) throw asAdapterError(error);
        await untilNextTry(waitedMs);
      }
    }
  }
  const writer = new Connection(path);
  await patiently(() => writer.database.exec("PRAGMA journal_mode = WAL"));
  writer.database.exec(
    `PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -${writerCacheKib}; PRAGMA wal_autocheckpoint = ${checkpointPages}`,
  );
  if (pagesMax !== undefined) writer.database.exec(`PRAGMA max_page_count = ${pagesMax}`);
  // A database in memory is one connection's alone: its readers wait for the writer's turn to be over.
  const isShared = path !== memoryPath;
  const reader = isShared ? new Connection(path) : writer;
  if (isShared) reader.database.exec("PRAGMA query_only = ON; PRAGMA cache_size = -16000");

  let version = -1;
  let othersAt = -Infinity;
  let endedAt = -Infinity;
  let blockedSince: number | null = null;
  /** The number changes when another process has committed since our last look. */
  const noteOthers = () => {
    const [row] = writer.rows(dataVersion) as [{ data_version: number }];
    if (row.data_version !== version && version >= 0) othersAt = performance.now();
    version = row.data_version;
  };
  /** While others write too, our next transaction leaves them the time of one retry: SQLite has no queue. */
  const leaveRoom = async () => {
    if (performance.now() - othersAt > othersActiveMs) return;
    const waitMs = roomMs - (performance.now() - endedAt);
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  };

  async function write<T>(sql: string, work: () => T): Promise<T> {
    refuseInside(() => `a write outside it; use its own handle: ${sql.slice(0, 200)}`);
    const release = await turn.take();
    try {
      return await patiently(work);
    } finally {
      release();
    }
  }

  const adapter: SqlDriverAdapter = {
    provider: "sqlite",
    adapterName,
    async queryRaw(query) {
      if (!isShared || !writer.isReadOnly(query.sql)) return write(query.sql, () => writer.query(query));
      await turn.breathe();
      return patiently(() => reader.query(query));
    },
    executeRaw: (query) => write(query.sql, () => writer.execute(query)),
    executeScript: (script) => write(script, () => void writer.database.exec(script)),
    startTransaction: () =>
      Promise.reject(new Error("transactions go through the adapter's own transaction()")),
    dispose() {
      if (isShared) reader.database.close();
      writer.database.close();
      return Promise.resolve();
    },
  };

  return {
    factory: { provider: "sqlite", adapterName, connect: () => Promise.resolve(adapter) },
    async transaction(work) {
      const release = await turn.take();
      try {
        await leaveRoom();
        blockedSince = performance.now();
        await patiently(() => writer.run(begin)).catch((error: unknown) => {
          throw asStoreError(error);
        });
        noteOthers();
        blockedSince = null;
        return await inTransaction(writer, work);
      } finally {
        blockedSince = null;
        endedAt = performance.now();
        release();
      }
    },
    trouble() {
      const blockedMs = blockedSince === null ? 0 : performance.now() - blockedSince;
      if (blockedMs < blockedLongMs) return null;
      const owner = writeLockOwner(path);
      const who = owner === null ? "Another process" : `Process ${owner}`;
      return `${who} holds the database's write lock; this one has waited ${Math.round(blockedMs / 1000)} s for it. If it is stopped, let it go on or end it.`;
    },
  };
}

/** Nobody wakes it. */
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** A timer can't be shorter than 1 ms: below, the thread sleeps for a part of one, and the event loop runs after each. */
async function untilNextTry(waitedMs: number): Promise<void> {
  if (waitedMs < oldMs || waitedMs > noRaceMs) {
    await new Promise((resolve) => setTimeout(resolve, retryMs()));
    return;
  }
  Atomics.wait(sleeper, 0, 0, Math.max(0.05, 1 - waitedMs / 40));
  await new Promise((resolve) => setImmediate(resolve));
}

const begin = { text: "BEGIN IMMEDIATE", values: [] };
const dataVersion = { text: "PRAGMA data_version", values: [] };
const commit = { text: "COMMIT", values: [] };

async function inTransaction<T>(writer: Connection, work: (handle: Handle) => Promise<T>): Promise<T> {
  // A handle that outlives its transaction must not write into the next one's.
  let open = true;
  const mine = (): Connection => {
    assert(open, "this transaction has ended; wait for its statements before its function returns");
    return writer;
  };
  try {
    const result = await work({
      query: <Row>(statement: Statement) => promised(() => mine().rows(statement) as Row[]),
      execute: (statement) => promised(() => mine().run(statement)),
      executeRows: (statement, rows) => promised(() => mine().runEach(statement, rows)),
      postRows: (statement, rows) => void mine().runEach(statement, rows),
      postApart: (statement, rows) => void mine().runEach(statement, rows),
    });
    writer.run(commit);
    return result;
  } catch (error) {
    throw asStoreError(error);
  } finally {
    open = false;
    // A COMMIT that failed (disk full) leaves the transaction open, a statement that failed may have ended it.
    if (writer.database.inTransaction) writer.database.exec("ROLLBACK");
  }
}

/** Whose turn it is to write, first come first served; lets the event loop run between turns. */
class Turn {
  private tail: Promise<void> = Promise.resolve();
  private breathedAt = performance.now();

  async take(): Promise<() => void> {
    let release = (): void => undefined;
    const before = this.tail;
    this.tail = new Promise((resolve) => (release = resolve));
    await before;
    await this.breathe();
    return release;
  }

  async breathe(): Promise<void> {
    if (performance.now() - this.breathedAt < yieldAfterMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.breathedAt = performance.now();
  }
}

interface Prepared {
  statement: Database.Statement<unknown[]>;
  columnNames: string[];
  declared: (ColumnType | null)[];
}

/** A better-sqlite3 handle with the statement cache it lacks. Never waits for a lock: busy is retried outside. */
class Connection {
  readonly database: Database.Database;
  private readonly prepared = new Map<string, Prepared>();
  private readonly own = new Map<string, Database.Statement<unknown[]>>();
  private readonly forRows = new Map<string, { statement: Database.Statement<unknown[]>; names: string[] }>();

  constructor(path: string) {
    this.database = new Database(path, { timeout: 0 });
    this.database.defaultSafeIntegers(true);
  }

  isReadOnly(sql: string): boolean {
    return (
      caught(() => this.prepare(sql).statement.readonly) &&
      !/^\s*(begin|commit|rollback|savepoint|release)/i.test(sql)
    );
  }

  query({ sql, args, argTypes }: SqlQuery): SqlResultSet {
    const { statement, columnNames, declared } = this.prepare(sql);
    const values = args.map((arg, index) => toSqlite(arg, argTypes[index]));
    if (!statement.reader) {
      statement.run(...values);
      return { columnNames: [], columnTypes: [], rows: [] };
    }
    const rows = statement.all(...values) as unknown[][];
    const columnTypes = declared.map((type, column) => type ?? inferType(rows, column));
    return { columnNames, columnTypes, rows: rows.map((row) => row.map(fromSqlite)) };
  }

  execute({ sql, args, argTypes }: SqlQuery): number {
    const { statement } = this.prepare(sql);
    return statement.run(...args.map((arg, index) => toSqlite(arg, argTypes[index]))).changes;
  }

  /** Rows as objects; empty for a statement that gives none. */
  rows(statement: Statement): unknown[] {
    const prepared = this.prepareOwn(textOf(statement));
    const values = statement.values.map(toColumn);
    if (prepared.reader) return prepared.all(...values);
    prepared.run(...values);
    return [];
  }

  /** How many rows it touched. */
  run(statement: Statement): number {
    return this.prepareOwn(textOf(statement)).run(...statement.values.map(toColumn)).changes;
  }

  /** The rows' own fields are the parameters. Bound by place: by name costs half as much again. */
  runEach({ text }: RowStatement, rows: readonly object[]): number {
    const { statement, names } = this.prepareForRows(text);
    let changes = 0;
    for (const row of rows as readonly Record<string, unknown>[])
      changes += statement.run(...names.map((name) => row[name])).changes;
    return changes;
  }

  private prepareForRows(text: string): { statement: Database.Statement<unknown[]>; names: string[] } {
    let found = this.forRows.get(text);
    if (!found) {
      const names = [...text.matchAll(namedParameter)].map(([, name]) =>
        must(name, "a parameter has a name"),
      );
      const statement = this.database
        .prepare<unknown[]>(text.replaceAll(namedParameter, "?"))
        .safeIntegers(false);
      found = { statement, names };
      keep(this.forRows, text, found);
    }
    return found;
  }

  /** Statements of our own transactions: rows as objects, whole numbers as numbers. */
  private prepareOwn(sql: string): Database.Statement<unknown[]> {
    let statement = this.own.get(sql);
    if (!statement) {
      statement = this.database.prepare<unknown[]>(sql).safeIntegers(false);
      keep(this.own, sql, statement);
    }
    return statement;
  }

  private prepare(sql: string): Prepared {
    const known = this.prepared.get(sql);
    if (known) return known;
    const statement = this.database.prepare<unknown[]>(sql);
    if (statement.reader) statement.raw();
    const columns = statement.reader ? statement.columns() : [];
    const prepared: Prepared = {
      statement,
      columnNames: columns.map((column) => column.name),
      declared: columns.map((column) => typeOfDeclared(column.type)),
    };
    keep(this.prepared, sql, prepared);
    return prepared;
  }
}

/** As dialect.ts writes a row's field. */
const namedParameter = /@([A-Za-z]\w*)/g;

function keep<T>(cache: Map<string, T>, sql: string, value: T): void {
  if (cache.size >= statementsMax)
    cache.delete(must(cache.keys().next().value, "a full cache has a first entry"));
  cache.set(sql, value);
}

const textOf = (statement: Statement): string => (statement instanceof Sql ? statement.sql : statement.text);

/** better-sqlite3 binds every JavaScript number as a float. */
export const toColumn = (value: unknown): unknown =>
  typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;

function typeOfDeclared(declared: string | null): ColumnType | null {
  switch (declared?.toUpperCase()) {
    case "INTEGER":
    case "INT":
      return ColumnTypeEnum.Int32;
    case "BIGINT":
      return ColumnTypeEnum.Int64;
    case "TEXT":
      return ColumnTypeEnum.Text;
    case "REAL":
      return ColumnTypeEnum.Double;
    case "DATETIME":
      return ColumnTypeEnum.DateTime;
    case "BOOLEAN":
      return ColumnTypeEnum.Boolean;
    default:
      return null;
  }
}

/** Computed columns have no declared type: the first value that isn't null tells. */
function inferType(rows: unknown[][], column: number): ColumnType {
  const value = rows.find((row) => row[column] !== null)?.[column];
  switch (typeof value) {
    case "bigint":
      return ColumnTypeEnum.Int64;
    case "number":
      return ColumnTypeEnum.Double;
    case "string":
      return ColumnTypeEnum.Text;
    default:
      return value instanceof Uint8Array ? ColumnTypeEnum.Bytes : ColumnTypeEnum.Int32;
  }
}

function fromSqlite(value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function toSqlite(arg: unknown, type: ArgType | undefined): unknown {
  if (typeof arg === "boolean") return arg ? 1n : 0n;
  // better-sqlite3 binds every JavaScript number as a float.
  if (typeof arg === "number") return Number.isSafeInteger(arg) ? BigInt(arg) : arg;
  if (typeof arg !== "string") return arg;
  switch (type?.scalarType) {
    case "int":
    case "bigint":
      return BigInt(arg);
    case "float":
    case "decimal":
      return Number.parseFloat(arg);
    default:
      return arg;
  }
}

function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_BUSY");
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** What `work` gives, its error as a rejection: the interface is asynchronous, SQLite is not. */
function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()));
}

function caught<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asAdapterError(error);
  }
}

/** The driver's error in the words Prisma expects; ours and Prisma's own pass unchanged. */
function asAdapterError(error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const original = { originalCode: error.code, originalMessage: error.message };
  if (error.code === "SQLITE_CONSTRAINT_UNIQUE" || error.code === "SQLITE_CONSTRAINT_PRIMARYKEY") {
    const fields = /constraint failed: (.*)/
      .exec(error.message)?.[1]
      ?.split(", ")
      .map((field) => field.slice(field.lastIndexOf(".") + 1));
    return new DriverAdapterError({
      ...original,
      kind: "UniqueConstraintViolation",
      ...(fields ? { constraint: { fields } } : {}),
    });
  }
  if (error.code.startsWith("SQLITE_BUSY"))
    return new DriverAdapterError({ ...original, kind: "SocketTimeout" });
  return new DriverAdapterError({ ...original, kind: "sqlite", extendedCode: 1, message: error.message });
}
