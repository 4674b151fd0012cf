/**
 * Filters of instances on both databases: what they find, whether few or many have it, and along which indexes.
 */
import Database from "better-sqlite3";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { must } from "@/lib/base/assert";
import { freshDatabase, providers, type TestDatabase } from "@/lib/testing/database";
import { instanceRow, taskRow } from "@/lib/testing/rows";
import type { InstanceFilter } from "../instances";
import { noWrites, type StepWrites } from "../steps";
import type { Store } from "../store";
import { dialects } from "./dialect";
import { rareMax } from "./instance-filters";
import { instanceReads } from "./instance-queries";
import { openSqlStore } from "./open-sql-store";
import { planByKey } from "./postgres-pool";
import { awaitedBy } from "./task-queries";
import type { Sql } from "./statement";

/** Rows of `count` instances, the newest last; every tenth has `tenth: yes`, all have `all: yes`. */
const many = (count: number): Pick<StepWrites, "created" | "labels" | "fieldsSet"> => {
  const ids = Array.from({ length: count }, (_, n) => `i${String(n).padStart(5, "0")}`);
  return {
    created: ids.map((id, n) => instanceRow({ id, createdAt: n })),
    labels: ids.flatMap((instanceId, n) => [
      { instanceId, key: "all", value: "yes" },
      { instanceId, key: "tenth", value: n % 10 === 0 ? "yes" : "no" },
    ]),
    fieldsSet: ids.map((instanceId) => ({ instanceId, chartId: "chart", field: "total", value: "yes" })),
  };
};
const label = (key: string, value: string) => ({ key, value });

describe.each(providers)("on %s", (provider) => {
  let database: TestDatabase;
  let store: Store;
  beforeEach(async () => {
    database = await freshDatabase(provider);
    store = await openSqlStore({ url: database.url, connections: 4 });
  });
  afterEach(async () => {
    await store.close();
    await database.drop();
  });
  const write = (writes: Partial<StepWrites>) =>
    store.transaction((tx) => tx.writeSteps({ ...noWrites(), ...writes }));
  async function paged(filter: InstanceFilter, size: number): Promise<string[]> {
    const seen: string[] = [];
    for (let after = null; ;) {
      const rows = await store.listInstances(filter, after, size);
      seen.push(...rows.map(({ id }) => id));
      if (rows.length < size) return seen;
      after = must(rows.at(-1), "a full page");
    }
  }
  const counted = async (filter: InstanceFilter) =>
    (await store.countSelected({ filter }, 100_000)).reduce((sum, { count }) => sum + count, 0);

  test("labels find who has them all, newest first, whether few or many have each", async () => {
    await write(many(rareMax + 200));
    const all = { labels: [label("all", "yes")] };
    expect(await paged({ ...all, idPrefix: "i000" }, 30)).toHaveLength(100);
    const tenth = await paged({ labels: [label("tenth", "yes")] }, 50);
    expect(tenth).toHaveLength(120);
    expect(tenth.slice(0, 3)).toEqual(["i01190", "i01180", "i01170"]);
    const both = { labels: [label("tenth", "yes"), label("all", "yes")] };
    expect(await paged(both, 50)).toEqual(tenth);
    expect(await counted(both)).toBe(120);
    expect(await counted(all)).toBe(rareMax + 200);
    expect(await paged({ labels: [label("tenth", "yes"), label("tenth", "no")] }, 9)).toEqual([]);
    expect(await paged({ labels: [label("tenth", "YES")] }, 9)).toEqual([]);
    expect(await paged({ ...both, chartId: "other" }, 9)).toEqual([]);
    const total = { chartId: "chart", field: "total", value: "yes" };
    expect(await counted({ fields: [total] })).toBe(rareMax + 200);
    expect(await paged({ ...both, fields: [total] }, 50)).toEqual(tenth);
    expect(await paged({ fields: [{ ...total, chartId: "other" }] }, 9)).toEqual([]);
  });

  test("a deleted instance is found by none of its labels", async () => {
    const { created, labels } = many(20);
    await write({ created, labels });
    await write({ changed: created.slice(0, 11).map((row) => ({ ...row, deletedAt: 5 })) });
    const filter = { labels: [label("tenth", "yes")] };
    expect(await paged(filter, 9)).toEqual([]);
    expect(await counted(filter)).toBe(0);
    expect(await counted({ labels: [label("all", "yes")] })).toBe(9);
  });
});

/** The list's statement, where each of the filter's traits is had by few, or by many. */
async function listing(
  provider: "sqlite" | "postgresql",
  filter: InstanceFilter,
  had: "rare" | "common",
): Promise<Sql> {
  const sent: Sql[] = [];
  const ids = Array.from({ length: had === "rare" ? 3 : rareMax + 1 }, (_, n) => ({ id: `i${n}` }));
  const query = (statement: Sql): Promise<never[]> => {
    sent.push(statement);
    return Promise.resolve((statement.sql.includes("ORDER BY") ? [] : ids) as never[]);
  };
  const reads = instanceReads({ query } as never, dialects[provider]);
  await reads.listInstances(filter, { createdAt: 9, id: "i" }, 51);
  return must(sent.at(-1), "the list");
}
const cases: InstanceFilter[] = [
  { labels: [label("a", "b")] },
  { labels: [label("a", "b"), label("c", "d")], chartId: "chart", status: "running" },
  { state: "s", status: "running" },
  { condition: "human", status: "running" },
  { fields: [{ chartId: "chart", field: "total", value: "yes" }], chartId: "chart", status: "running" },
];

test("on sqlite: who has a rare label is looked up by id, a common one is asked of the newest by its key", async () => {
  const database = await freshDatabase("sqlite");
  const file = new Database(database.url.slice("file:".length), { readonly: true });
  try {
    for (const filter of cases) {
      for (const had of ["rare", "common"] as const) {
        const { sql, values } = await listing("sqlite", filter, had);
        const rows = file.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
        const plan = rows.map(({ detail }) => detail).join("\n");
        if (had === "rare")
          expect(plan).toContain("SEARCH instances USING INDEX sqlite_autoindex_instances_1");
        else {
          expect(plan).toMatch(/SEARCH instances USING INDEX instances_\w*created_at_id_idx/);
          expect(plan).toMatch(
            /SEARCH ([lf] USING INDEX sqlite_autoindex|s USING PRIMARY KEY|t USING INDEX tasks_condition_instance_id_idx)/,
          );
          expect(plan).not.toContain("TEMP B-TREE");
        }
      }
    }
  } finally {
    file.close();
    await database.drop();
  }
});

const page = Array.from({ length: 51 }, (_, n) => `i${n}`);
const tasksOfPage = /tasks_condition_instance_id_idx/;

test("on sqlite: what a page of instances waits for is looked up by its conditions, however many tasks are over", async () => {
  const database = await freshDatabase("sqlite");
  const file = new Database(database.url.slice("file:".length), { readonly: true });
  try {
    const { sql, values } = awaitedBy(dialects.sqlite, page);
    const rows = file.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    expect(rows.map(({ detail }) => detail).join("\n")).toMatch(tasksOfPage);
  } finally {
    file.close();
    await database.drop();
  }
});

test("on postgresql: the same", async () => {
  const database = await freshDatabase("postgresql");
  const store = await openSqlStore({ url: database.url, connections: 1 });
  const client = new pg.Client({ connectionString: database.url, options: planByKey });
  await client.connect();
  try {
    const rows = many(3 * rareMax);
    // Most are over, many of each instance.
    const tasksBegun = rows.created.flatMap(({ id: instanceId }, n) =>
      [1, 2, 3].map((each) =>
        taskRow({ instanceId, taskId: `${each}:a`, condition: each === 3 && n % 10 === 0 ? "task" : null }),
      ),
    );
    await store.transaction((tx) => tx.writeSteps({ ...noWrites(), ...rows, tasksBegun }));
    await client.query("ANALYZE");
    const { text: ofPage, values: ids } = awaitedBy(dialects.postgresql, page);
    const { rows: plan } = await client.query<Record<string, string>>(`EXPLAIN ${ofPage}`, ids);
    expect(plan.map((row) => row["QUERY PLAN"] ?? "").join("\n")).toMatch(tasksOfPage);
    for (const filter of cases) {
      for (const had of ["rare", "common"] as const) {
        const { text, values } = await listing("postgresql", filter, had);
        const { rows } = await client.query<Record<string, string>>(`EXPLAIN ${text}`, values);
        const plan = rows.map((row) => row["QUERY PLAN"] ?? "").join("\n");
        expect(plan).not.toContain("Seq Scan");
        if (had === "rare") expect(plan).toMatch(/instances_pkey on instances/);
        else {
          expect(plan).toMatch(/instances_\w*created_at_id_idx on instances/);
          expect(plan).toMatch(
            /instance_(labels|states|fields)_pkey on instance_\w+ [lsf]|tasks_condition_instance_id_idx on tasks/,
          );
        }
      }
    }
  } finally {
    await client.end();
    await store.close();
    await database.drop();
  }
});
