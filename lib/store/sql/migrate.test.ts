import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { emptyDatabase, providers, tamper, type TestDatabase } from "@/lib/testing/database";
import { connect, migrations } from "./connection";
import { raw } from "./statement";
import { openSqlStore } from "./open-sql-store";

describe.each(providers)("migrating on %s", (provider) => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await emptyDatabase(provider);
  });
  afterEach(() => database.drop());
  const open = () => openSqlStore({ url: database.url, connections: 2 });
  async function books(): Promise<{ name: string; checksum: string; steps: number }[]> {
    const connection = await connect({ url: database.url, connections: 1 });
    const rows = await connection.query<{ name: string; checksum: string; steps: number }>(
      raw(
        `SELECT "migration_name" AS "name", "checksum", "applied_steps_count" AS "steps" FROM "_prisma_migrations" WHERE "finished_at" IS NOT NULL ORDER BY 1`,
      ),
    );
    await connection.close();
    return rows;
  }

  test("several processes that start at once apply each migration once, in Prisma's books", async () => {
    const stores = await Promise.all([open(), open(), open()]);
    for (const store of stores) await store.close();
    await (await open()).close();
    expect(await books()).toEqual(
      migrations[provider].map(({ name, checksum }) => ({ name, checksum, steps: 1 })),
    );
  });

  test("a database of a newer version is refused, and left alone", async () => {
    await (await open()).close();
    await tamper(
      database.url,
      `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count) VALUES ('x', 'c', '2030-01-01', '20991231000000_future', '2030-01-01', 1)`,
    );
    await expect(open()).rejects.toMatchObject({
      code: "database-unavailable",
      message: expect.stringContaining("20991231000000_future") as string,
    });
  });

  test("a migration whose text was changed after it was applied is refused", async () => {
    await (await open()).close();
    await tamper(database.url, "UPDATE _prisma_migrations SET checksum = 'other'");
    await expect(open()).rejects.toMatchObject({
      code: "database-unavailable",
      details: { migration: migrations[provider][0]?.name },
    });
  });

  test("a migration that Prisma began and did not finish is refused", async () => {
    await (await open()).close();
    await tamper(database.url, "UPDATE _prisma_migrations SET finished_at = NULL");
    await expect(open()).rejects.toMatchObject({ code: "database-unavailable" });
  });
});

test("a dump restored into a server that counts transactions anew keeps the feed's order", async () => {
  const database = await emptyDatabase("postgresql");
  try {
    let store = await openSqlStore({ url: database.url, connections: 2 });
    const chart = (id: string) => ({
      id,
      draftText: "{}",
      draftLayout: "{}",
      revision: 1,
      savedAt: 1,
      savedBy: "local",
      version: null,
      createdAt: 1,
      updatedAt: 1,
      updatedBy: "local",
    });
    await store.transaction((tx) => tx.insertChart(chart("before")));
    await store.close();
    // As if the server that wrote it had been far ahead.
    await tamper(database.url, "UPDATE charts SET change_tx = change_tx + 5000000");
    store = await openSqlStore({ url: database.url, connections: 2 });
    const { position } = await store.changesSince(null, 10);
    await store.transaction((tx) => tx.insertChart(chart("after")));
    // Shown when every transaction of the server that began before is over, those of other tests too.
    await vi.waitFor(async () => {
      const { changes } = await store.changesSince(position, 10);
      expect(changes.at(-1)).toMatchObject({ id: "after" });
    }, 10_000);
    expect((await store.changesSince("0.0", 10)).changes).toMatchObject([{ id: "before" }, { id: "after" }]);
    await store.close();
  } finally {
    await database.drop();
  }
});
