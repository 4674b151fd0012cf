/**
 * PostgreSQL's driver: the pool that Prisma reads through, and transactions straight on it.
 *
 * Why not Prisma's interactive transactions: each costs 1.2 ms of this process and a round trip a statement. Here a
 * transaction's statements are sent without waiting for one another (the driver's pipeline mode), BEGIN with the first of
 * them, what is only written with COMMIT.
 *
 * Holds: I9 a transaction commits as a whole or not at all: a statement that failed, waited for or not, turns COMMIT into
 *        ROLLBACK, and that is an error here. A paused or unreachable process is cut off: every wait on the server is bounded.
 */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import pg from "pg";
import { must } from "@/lib/base/assert";
import { asStoreError } from "./store-error";
import { Sql, type BeforeStatement, type Handle, type RowStatement, type Statement } from "./statement";

export const waitForConnectionMs = 10_000;

/**
 * What the server itself enforces on our connections. A process stopped inside a step must not park its rows: after
 * 5 s idle in a transaction, or 15 s unreachable, the server ends it.
 */
const serverTimeouts = {
  idle_in_transaction_session_timeout: 5_000,
  lock_timeout: 5_000,
  statement_timeout: 30_000,
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 3,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 15_000,
};

/**
 * Our statements look rows up by their keys. The planner doesn't know how few they are: on a small table it scans, and a
 * prepared statement keeps that plan while the table grows.
 */
const byKey = {
  // What is disabled has a cost so high that each statement would be compiled to machine code first: a second of work.
  jit: "off",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  plan_cache_mode: "force_generic_plan",
};

const asOptions = (settings: Record<string, string | number>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ");
export const planByKey = asOptions(byKey);

const ignore = (): void => undefined;

export function openPool(url: string, connections: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: waitForConnectionMs,
    keepAlive: true,
    application_name: "lockstep",
    pipeline: true,
    options: `${asOptions(serverTimeouts)} ${planByKey}`,
  });
  // A connection that breaks while idle is replaced by the pool, one in use fails its statement: its error must not end the process.
  // Listened for as long as it lives: the server's farewell may stand in the very packet that hands the connection over.
  pool.on("error", ignore);
  pool.on("connect", (client) => client.on("error", ignore));
  return pool;
}

/** Runs `work` in one transaction. `before`: tests only, statement by statement. */
export async function postgresTransaction<T>(
  pool: pg.Pool,
  work: (handle: Handle) => Promise<T>,
  before?: BeforeStatement,
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw asStoreError(error);
  });
  const posted: Promise<unknown>[] = [];
  let apart: { statement: RowStatement; rows: readonly object[] }[] = [];
  const gather = gatherer(client);
  const runNext = before ? oneByOne(client, before) : (statement: Statement) => run(client, statement);
  const sendNow = (statement: Statement) => {
    gather();
    const sent = runNext(statement);
    // Its failure is told by whoever waits for it, or by COMMIT; never as unhandled.
    sent.catch(ignore);
    return sent;
  };
  const sendApart = () => {
    if (apart.length > 0) posted.push(sendNow(asOne(apart)));
    apart = [];
  };
  const send = (statement: Statement) => {
    sendApart();
    return sendNow(statement);
  };
  let worked = false;
  let broken: unknown = null;
  try {
    posted.push(send(begin));
    const result = await work({
      query: async <Row>(statement: Statement) => (await send(statement)).rows as Row[],
      execute: async (statement) => (await send(statement)).rowCount ?? 0,
      executeRows: async (statement, rows) => (await send(ofRows(statement, rows))).rowCount ?? 0,
      postRows: (statement, rows) => void posted.push(send(ofRows(statement, rows))),
      postApart(statement, rows) {
        if (apart.some((other) => other.statement.table === statement.table)) sendApart();
        apart.push({ statement, rows });
      },
    });
    worked = true;
    const committed = send(commit);
    await Promise.all(posted);
    if ((await committed).command !== "COMMIT") {
      worked = false;
      throw new Error("the transaction had failed before its COMMIT");
    }
    return result;
  } catch (error) {
    const known = asStoreError(await firstOf(posted, error), worked);
    apart = [];
    await send(rollback).catch((failure: unknown) => (broken = failure));
    throw known;
  } finally {
    client.release(broken !== null);
  }
}

/** A statement behind one that failed tells only that its transaction is aborted; the cause may be one that nobody waited for. */
async function firstOf(posted: readonly Promise<unknown>[], error: unknown): Promise<unknown> {
  if (!isAborted(error)) return error;
  const ends = await Promise.allSettled(posted);
  const failures = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
  return failures.find((failure) => !isAborted(failure)) ?? error;
}

const isAborted = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === "25P02";

type Run = (statement: Statement) => Promise<pg.QueryResult>;

/** Each statement waits for the one before it, and for `before`. */
function oneByOne(client: pg.PoolClient, before: BeforeStatement): Run {
  const { processID } = client as unknown as { processID: number };
  let last: Promise<unknown> = Promise.resolve();
  return (statement) => {
    const done = last.then(async () => {
      const text = await before(processID, statement.text);
      return run(client, text === statement.text ? statement : { text, values: statement.values });
    });
    last = done.catch(() => undefined);
    return done;
  };
}

/** Statements sent in one go leave in one packet: a write to the socket costs more than most statements. */
function gatherer(client: pg.PoolClient): () => void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  let corked = false;
  const uncork = () => {
    corked = false;
    stream.uncork();
  };
  return () => {
    if (corked) return;
    corked = true;
    stream.cork();
    process.nextTick(uncork);
  };
}

const begin = { text: "BEGIN", values: [] };
const commit = { text: "COMMIT", values: [] };
const rollback = { text: "ROLLBACK", values: [] };

/** How long a connection is kept at hand between statements that are alone, and how many are. */
const atHandMs = 1_000;
const atHandMax = 2;

/**
 * Runs statements that are a transaction each. A few connections stay at hand between them, for fetching one from the pool
 * costs a third of a short statement; they go back when others wait for one, or after a second.
 */
export function loneStatements(
  pool: pg.Pool,
  before?: BeforeStatement,
): {
  run<Row>(this: void, statement: Statement): Promise<Row[]>;
  close(): void;
} {
  const atHand: AtHand[] = [];
  let closed = false;
  const take = async (): Promise<pg.PoolClient> => atHand.pop()?.take() ?? pool.connect();
  const give = (client: pg.PoolClient): void => {
    if (atHand.length >= atHandMax || pool.waitingCount > 0 || closed) return client.release();
    const one: AtHand = keep(client, () => void atHand.splice(atHand.indexOf(one), 1));
    atHand.push(one);
  };
  return {
    async run<Row>(statement: Statement): Promise<Row[]> {
      let sent = false;
      try {
        const client = await take();
        let rows: Row[];
        try {
          sent = true;
          const runNext = before ? oneByOne(client, before) : (one: Statement) => run(client, one);
          rows = (await runNext(statement)).rows as Row[];
        } catch (error) {
          client.release(true);
          throw error;
        }
        give(client);
        return rows;
      } catch (error) {
        // Sent and not answered: it may have been done.
        throw asStoreError(error, sent);
      }
    },
    close() {
      closed = true;
      for (const one of atHand.splice(0)) one.take().release();
    },
  };
}

interface AtHand {
  take(): pg.PoolClient;
}

/** Gives it back to the pool after a while, or when it is lost: calls `gone` then. */
function keep(client: pg.PoolClient, gone: () => void): AtHand {
  const end = () => {
    clearTimeout(timer);
    client.off("error", onLost);
  };
  const letGo = (lost: boolean) => {
    end();
    gone();
    client.release(lost);
  };
  const onLost = () => letGo(true);
  client.on("error", onLost);
  const timer = setTimeout(() => letGo(false), atHandMs).unref();
  return {
    take() {
      end();
      return client;
    },
  };
}

const ofRows = ({ text }: RowStatement, rows: readonly object[]): Statement => ({
  text,
  values: [JSON.stringify(rows)],
});

/** Statements that know nothing of each other, as one: an answer less for each to send, to read and to wait for. */
function asOne(together: readonly { statement: RowStatement; rows: readonly object[] }[]): Statement {
  const [first, ...more] = together;
  if (first && more.length === 0) return ofRows(first.statement, first.rows);
  return { text: textOfAll(together), values: together.map(({ rows }) => JSON.stringify(rows)) };
}

/** The same few run together again and again, and their text is long: a tree of statements, each in the order of the run. */
interface Combination {
  next: WeakMap<RowStatement, Combination>;
  text: string | null;
}
const combination = (): Combination => ({ next: new WeakMap(), text: null });
const combinations = combination();

function textOfAll(together: readonly { statement: RowStatement }[]): string {
  let node = combinations;
  for (const { statement } of together) {
    let next = node.next.get(statement);
    if (!next) node.next.set(statement, (next = combination()));
    node = next;
  }
  node.text ??= `WITH ${together
    .map(
      ({ statement }, index) =>
        `p${index} AS (${statement.text.replaceAll("$1::json", `$${index + 1}::json`)})`,
    )
    .join(", ")} SELECT 1 WHERE false`;
  return node.text;
}

function run(client: pg.ClientBase | pg.Pool, statement: Statement): Promise<pg.QueryResult> {
  const { text, values } = statement;
  return client.query({
    text,
    values: values as unknown[],
    types: wholeNumbers,
    ...(values.length === 0 && !(statement instanceof Sql) ? {} : { name: statementName(text) }),
  });
}

/** 64-bit columns are times and counts, whole numbers below 2^53. */
const int8 = 20;
type Parser = (text: string) => unknown;
export const wholeNumbers: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary"): Parser =>
    oid === int8 ? Number : (pg.types.getTypeParser as (oid: number, format?: string) => Parser)(oid, format),
};

/** The statements of this house are few and constant in text, so that the server can keep each one prepared. */
const statementNames = new Map<string, string>();
export function statementName(text: string): string {
  let name = statementNames.get(text);
  if (name === undefined) {
    name = `ls_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
    statementNames.set(text, name);
    if (statementNames.size > 2_000)
      statementNames.delete(must(statementNames.keys().next().value, "a first one"));
  }
  return name;
}
