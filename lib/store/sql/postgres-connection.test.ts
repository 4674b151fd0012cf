import type { PoolClient } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { must } from "@/lib/base/assert";
import { freshDatabase, tamper, type TestDatabase } from "@/lib/testing/database";
import { connect, type DatabaseConnection } from "./connection";
import { openPool } from "./postgres-pool";
import { raw, sql, type Handle, type Sql } from "./statement";

const execute = (statement: Sql) => connection.transaction((handle) => handle.execute(statement));
let database: TestDatabase;
let connection: DatabaseConnection;
beforeEach(async () => {
  database = await freshDatabase("postgresql");
  connection = await connect({ url: database.url, connections: 3 });
  await execute(raw(`CREATE TABLE t (id INTEGER PRIMARY KEY, n BIGINT NOT NULL)`));
  await execute(raw(`INSERT INTO t VALUES (1, 0), (2, 0)`));
});
afterEach(async () => {
  await connection.close();
  await database.drop();
});
const values = () => connection.query(sql`SELECT n FROM t ORDER BY id`);

test("every connection has the bounds that cut a stuck process off", async () => {
  const names = [
    "idle_in_transaction_session_timeout",
    "lock_timeout",
    "statement_timeout",
    "tcp_user_timeout",
  ];
  const settings = await connection.query<{ name: string; setting: string }>(
    sql`SELECT name, setting FROM pg_settings WHERE name IN (${raw(names.map((name) => `'${name}'`).join(","))}) ORDER BY name`,
  );
  expect(settings.map(({ name, setting }) => [name, Number(setting)])).toEqual([
    ["idle_in_transaction_session_timeout", 5_000],
    ["lock_timeout", 5_000],
    ["statement_timeout", 30_000],
    ["tcp_user_timeout", 15_000],
  ]);
});

const add = {
  table: "t",
  text: `UPDATE t SET n = n + 1 FROM json_to_recordset($1::json) AS r(id INTEGER) WHERE t.id = r.id`,
};
test.each<[string, (handle: Handle, id: number) => Promise<unknown>]>([
  ["waited for", (handle, id) => handle.execute(sql`UPDATE t SET n = n + 1 WHERE id = ${id}`)],
  [
    "that nobody waited for",
    (handle, id) => {
      handle.postRows(add, [{ id }]);
      return handle.query(sql`SELECT n FROM t`);
    },
  ],
])(
  "two transactions that block each other by a statement %s are both run in the end, and the repetition is counted",
  async (_how, addTo) => {
    let meeting = 0;
    const cross = (first: number, second: number) =>
      connection.transaction(async (handle) => {
        await handle.execute(sql`UPDATE t SET n = n + 1 WHERE id = ${first}`);
        meeting += 1;
        // Only the first attempts meet: the one run again finds the other gone.
        for (let waits = 0; meeting < 2 && waits < 200; waits += 1)
          await new Promise((done) => setTimeout(done, 5));
        await addTo(handle, second);
      });
    expect(connection.repeated()).toBe(0);
    await Promise.all([cross(1, 2), cross(2, 1)]);
    expect(connection.repeated()).toBe(1);
    expect(await values()).toEqual([{ n: 2 }, { n: 2 }]);
    expect(meeting).toBe(3);
  },
);

test("I9: a database that takes no writes is a clear error and leaves no half step", async () => {
  const name = new URL(database.url).pathname.slice(1);
  await tamper(database.url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await connection.close();
  connection = await connect({ url: database.url, connections: 3 });
  await expect(
    connection.transaction((handle) => handle.execute(sql`UPDATE t SET n = 5`)),
  ).rejects.toMatchObject({ code: "database-unavailable", retry: "later" });
  expect(await values()).toEqual([{ n: 0 }, { n: 0 }]);
});

test("I9: a connection cut in the middle of a transaction leaves nothing, and the next one works", async () => {
  const cut = connection.transaction(async (handle) => {
    await handle.execute(sql`UPDATE t SET n = 5`);
    const [row] = await handle.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
    await tamper(database.url, `SELECT pg_terminate_backend(${row?.pid ?? 0})`);
    await handle.execute(sql`UPDATE t SET n = 6`);
  });
  await expect(cut).rejects.toMatchObject({ code: "database-unavailable", retry: "later" });
  expect(await values()).toEqual([{ n: 0 }, { n: 0 }]);
});

test("a connection cut while it is kept at hand disturbs nobody, and the next statement has another", async () => {
  const alone = must(connection.alone, "PostgreSQL has the short way");
  const pid = async () =>
    (await alone<{ pid: number }>({ text: "SELECT pg_backend_pid() AS pid", values: [] }))[0]?.pid;
  const first = await pid();
  expect(await pid()).toBe(first);
  // Unheard, the server's word to it would be an error that nobody catches.
  await tamper(database.url, `SELECT pg_terminate_backend(${first ?? 0})`);
  await new Promise((done) => setTimeout(done, 100));
  expect(await pid()).not.toBe(first);
});

test("a server that isn't there is a clear error", async () => {
  await expect(
    connect({ url: "postgresql://lockstep:x@127.0.0.1:1/none", connections: 1 }).then((open) =>
      open.query(sql`SELECT 1`),
    ),
  ).rejects.toMatchObject({ code: "database-unavailable", retry: "later" });
});

test("a connection whose end is told as it is handed over ends no process", async () => {
  const pool = openPool(database.url, 1);
  // What stands behind the answer in the same packet is told before whoever waits for the connection goes on.
  const client = await new Promise<PoolClient>((resolve, reject) => {
    pool.connect((error, given) => {
      if (!given) return reject(error ?? new Error("no connection"));
      given.emit("error", new Error("terminating connection due to administrator command"));
      resolve(given);
    });
  });
  client.release(true);
  expect((await pool.query<{ one: number }>("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  await pool.end();
});
