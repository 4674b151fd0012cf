import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import Database from "better-sqlite3";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "@/lib/testing/database";
import { connect, type DatabaseConnection } from "./connection";
import { openSqliteAdapter } from "./sqlite-adapter";
import { raw, sql, type Sql } from "./statement";

const execute = (statement: Sql) => connection.transaction((handle) => handle.execute(statement));
let database: TestDatabase;
let connection: DatabaseConnection;
beforeEach(async () => {
  database = await freshDatabase("sqlite");
  connection = await connect({ url: database.url, connections: 1 });
  await execute(raw(`CREATE TABLE t (id INTEGER PRIMARY KEY, n BIGINT NOT NULL)`));
  await execute(raw(`INSERT INTO t VALUES (1, 0)`));
});
afterEach(async () => {
  await connection.close();
  await database.drop();
});
const value = async () => (await connection.query<{ n: number }>(sql`SELECT n FROM t WHERE id = 1`))[0]?.n;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a write beside an open transaction waits for it and survives its rollback", async () => {
  const rolledBack = connection.transaction(async (handle) => {
    await handle.execute(sql`UPDATE t SET n = 100`);
    await pause(50);
    throw new Error("no");
  });
  await pause(10);
  const beside = execute(sql`UPDATE t SET n = n + 1`);
  await expect(rolledBack).rejects.toThrow("no");
  expect(await beside).toBe(1);
  expect(await value()).toBe(1);
});

test("a reader sees committed data alone, and never waits for a writer", async () => {
  await connection.transaction(async (handle) => {
    await handle.execute(sql`UPDATE t SET n = 5`);
    expect(await value()).toBe(0);
    expect(await handle.query(sql`SELECT n FROM t`)).toEqual([{ n: 5 }]);
  });
  expect(await value()).toBe(5);
});

test("a write outside the transaction that its caller has open is a defect, told at once", async () => {
  await expect(connection.transaction(() => execute(sql`UPDATE t SET n = 9`))).rejects.toThrow(
    /waits for itself/,
  );
  await execute(sql`UPDATE t SET n = 2`);
  expect(await value()).toBe(2);
});

test("numbers keep their value: large whole ones, fractions, null", async () => {
  const big = Number.MAX_SAFE_INTEGER;
  await execute(sql`UPDATE t SET n = ${big}`);
  expect(await connection.query(sql`SELECT n, 1.5 AS half, ${null} AS none, ${"ü"} AS text FROM t`)).toEqual([
    { n: big, half: 1.5, none: null, text: "ü" },
  ]);
});

test("timers run while transactions come one after the other", async () => {
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  const until = performance.now() + 300;
  while (performance.now() < until) {
    await connection.transaction((handle) => handle.execute(sql`UPDATE t SET n = n + 1`));
  }
  clearInterval(timer);
  // Without letting them in it is 0, however slow the machine.
  expect(ticks).toBeGreaterThan(2);
});

test("I9: a full disk is a clear error and leaves no half step", async () => {
  const [row] = await connection.query<{ pages: number }>(
    sql`SELECT page_count AS pages FROM pragma_page_count`,
  );
  // Only the writing connection's own limit counts, and a transaction is the way to it.
  await connection.transaction((handle) =>
    handle.query(raw(`PRAGMA max_page_count = ${(row?.pages ?? 0) + 2}`)),
  );
  const writing = connection.transaction(async (handle) => {
    await handle.execute(sql`UPDATE t SET n = 77`);
    await handle.execute(raw(`CREATE TABLE big (text TEXT)`));
    await handle.execute(sql`INSERT INTO big VALUES (${"x".repeat(1_000_000)})`);
  });
  await expect(writing).rejects.toMatchObject({ code: "database-full", retry: "later" });
  expect(await value()).toBe(0);
  await execute(sql`UPDATE t SET n = 1`);
  expect(await value()).toBe(1);
});

test("who waits in vain for another's write is told that the database is busy", async () => {
  const other = new Database(database.url.slice("file:".length));
  other.exec("BEGIN IMMEDIATE");
  const adapter = await openSqliteAdapter({ path: database.url.slice("file:".length), busyTimeoutMs: 20 });
  try {
    const writing = adapter.transaction((handle) => handle.execute(sql`UPDATE t SET n = 7`));
    await expect(writing).rejects.toMatchObject({ code: "database-busy", retry: "later" });
  } finally {
    other.close();
    await (await adapter.factory.connect()).dispose();
  }
});

test("three processes that read and write one row lose nothing", async () => {
  const each = 100;
  await mkdir(".cache", { recursive: true });
  const source = ".cache/sqlite-writer.ts";
  await writeFile(
    source,
    `import { connect } from "@/lib/store/sql/connection";
import { sql } from "@/lib/store/sql/statement";
const connection = await connect({ url: process.argv[2] ?? "", connections: 1 });
for (let done = 0; done < ${each}; done += 1) {
  await connection.transaction(async (handle) => {
    const [row] = await handle.query<{ n: number }>(sql\`SELECT n FROM t WHERE id = 1\`);
    await handle.execute(sql\`UPDATE t SET n = \${(row?.n ?? 0) + 1} WHERE id = 1\`);
  });
}
await connection.close();
`,
  );
  const program = ".cache/sqlite-writer.mjs";
  await build({
    entryPoints: [source],
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outfile: program,
    logLevel: "error",
    tsconfig: "tsconfig.json",
  });
  const run = () =>
    new Promise<number | null>((resolve) =>
      spawn(process.execPath, [program, database.url], { stdio: "inherit" }).once("exit", resolve),
    );
  expect(await Promise.all([run(), run(), run()])).toEqual([0, 0, 0]);
  expect(await value()).toBe(3 * each);
}, 60_000);
