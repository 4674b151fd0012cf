/**
 * What every store promises whoever looks at a family, on every store. (Steps of families: runtime/children.test.ts.)
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freshDatabase, providers, type TestDatabase } from "@/lib/testing/database";
import { instanceRow } from "@/lib/testing/rows";
import type { ChildRow } from "../children";
import { noWrites } from "../steps";
import type { Store } from "../store";
import { openSqlStore } from "./open-sql-store";

describe.each(providers)("children on %s", (provider) => {
  let database: TestDatabase;
  let store: Store;
  beforeEach(async () => {
    database = await freshDatabase(provider);
    store = await openSqlStore({ url: database.url, connections: 2 });
  });
  afterEach(async () => {
    await store.close();
    await database.drop();
  });
  const family = { parentId: "p", parentIncarnation: 1, parentTask: "1:kids" };
  const child = (place: number, over: Partial<ChildRow> = {}): ChildRow => ({
    ...family,
    place,
    childId: `k${place}`,
    status: "running",
    result: null,
    error: null,
    ...over,
  });

  test("a family is listed by place, of one status or all, with the instances that still are there", async () => {
    await store.transaction((tx) =>
      tx.writeSteps({
        ...noWrites(),
        created: [
          instanceRow({ id: "k0", version: 2, configuration: '["busy"]' }),
          instanceRow({ id: "k1", deletedAt: 5 }),
        ],
        childrenBegun: [
          child(1, { status: "succeeded", result: "7" }),
          child(0),
          child(2, { status: "failed", error: '{"code":"child-failed","message":"no"}' }),
          child(0, { parentIncarnation: 2 }),
          child(0, { parentTask: "2:kids" }),
        ],
      }),
    );
    const all = await store.listFamily(family, null, null, 9);
    expect(all).toEqual([
      { ...child(0), chartId: "chart", version: 2, instanceStatus: "running", configuration: '["busy"]' },
      {
        ...child(1, { status: "succeeded", result: "7" }),
        chartId: null,
        version: null,
        instanceStatus: null,
        configuration: null,
      },
      expect.objectContaining({ place: 2, status: "failed", chartId: null }),
    ]);
    const places = async (...args: Parameters<Store["listFamily"]>) =>
      (await store.listFamily(...args)).map(({ place }) => place);
    expect(await places(family, null, null, 2)).toEqual([0, 1]);
    expect(await places(family, null, 1, 2)).toEqual([2]);
    expect(await places(family, "succeeded", null, 9)).toEqual([1]);
    expect(await places(family, "succeeded", 1, 9)).toEqual([]);
    expect(await store.countFamily(family)).toEqual([
      { status: "failed", count: 1 },
      { status: "running", count: 1 },
      { status: "succeeded", count: 1 },
    ]);
    expect(await store.countFamily({ ...family, parentTask: "9:none" })).toEqual([]);
  });
});
