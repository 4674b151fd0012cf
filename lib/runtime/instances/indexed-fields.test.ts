/**
 * Searching by the fields that a chart declares (settings.index), on both databases.
 */
import Database from "better-sqlite3";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { providers, tamper } from "@/lib/testing/database";
import { freshRuntime, local, publish, publishNext, type TestRuntime } from "@/lib/testing/runtime";

const order: JsonObject = {
  lockstep: 1,
  settings: { index: ["total", "customer.id", 'tags["a:b"]', "lines"] },
  context: { total: 0, customer: { id: "nobody" }, tags: {}, lines: [] },
  initial: "open",
  states: {
    open: {
      on: {
        add: { actions: { assign: { total: "context.total + event.n" } } },
        name: { actions: { assign: { customer: "{'id': event.who}" } } },
        tag: { actions: { assign: { 'tags["a:b"]': "event.tag" } } },
        look: {},
        close: "closed",
      },
    },
    closed: { type: "final" },
  },
};

describe.each(providers)("on %s", (provider) => {
  let at: TestRuntime;
  beforeEach(async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "order", order);
  });
  afterEach(async () => {
    expect(at.reported).toEqual([]);
    await at.end();
  });
  const start = (id: string) => at.runtime.startInstance(local, { chartId: "order", id });
  const send = (instanceId: string, type: string, data: JsonObject = {}) =>
    at.runtime.sendEvent(local, { instanceId, type, data });
  const find = async (...index: string[]) =>
    (await at.runtime.listInstances(local, { chartId: "order", index })).items.map(({ id }) => id);

  /** How many there are of all instances. */
  async function rows(): Promise<number> {
    const text = "SELECT count(*) AS count FROM instance_fields";
    if (provider === "sqlite") {
      const file = new Database(at.database.url.slice("file:".length), { readonly: true });
      const count = file.prepare(text).pluck().get();
      file.close();
      return count as number;
    }
    const client = new pg.Client({ connectionString: at.database.url });
    await client.connect();
    const { rows: found } = await client.query<{ count: string }>(text);
    await client.end();
    return Number(found[0]?.count);
  }

  test("an instance is found by what its fields have now, texts, numbers and bools alike, also when it has ended", async () => {
    await start("o1");
    await start("o2");
    expect(await find("total:0")).toEqual(["o2", "o1"]);
    await send("o1", "add", { n: 40 });
    await send("o1", "name", { who: "c:7" });
    await send("o2", "tag", { tag: true });
    expect(await find("total:40")).toEqual(["o1"]);
    expect(await find("total:0")).toEqual(["o2"]);
    expect(await find("customer.id:c:7", "total:40")).toEqual(["o1"]);
    expect(await find('tags["a:b"]:true')).toEqual(["o2"]);
    expect(await find("customer.id:c:7", "total:0")).toEqual([]);
    await send("o1", "close");
    expect(await find("total:40")).toEqual(["o1"]);
  });

  test("I2: the rows commit with the step, or neither does", async () => {
    await start("o1");
    await send("o1", "add", { n: 1 });
    await tamper(at.database.url, `CREATE UNIQUE INDEX once ON event_log (instance_id, type)`);
    await expect(send("o1", "add", { n: 1 })).rejects.toThrow();
    expect(await find("total:1")).toEqual(["o1"]);
    await tamper(
      at.database.url,
      `DROP INDEX once; CREATE UNIQUE INDEX once ON instance_fields (field, value)`,
    );
    await expect(start("o2")).rejects.toThrow();
    await expect(at.runtime.getInstance(local, { instanceId: "o2" })).rejects.toMatchObject({
      code: "not-found",
    });
    expect(await find("customer.id:nobody")).toEqual(["o1"]);
  });

  test("what no search can be for has no row: nothing, lists, long texts; a value that goes takes its row along", async () => {
    await start("o1");
    expect(await rows()).toBe(2);
    await send("o1", "name", { who: "x".repeat(257) });
    expect(await rows()).toBe(1);
    await send("o1", "name", { who: "\0" });
    await send("o1", "name", { who: null });
    await send("o1", "look");
    expect(await rows()).toBe(1);
    await send("o1", "name", { who: "x".repeat(256) });
    expect(await find(`customer.id:${"x".repeat(256)}`)).toEqual(["o1"]);
  });

  test("they follow a reset, a fork and a migration, and go with the instance", async () => {
    await start("o1");
    await send("o1", "add", { n: 5 });
    await send("o1", "add", { n: 5 });
    await at.runtime.resetInstance(local, { instanceId: "o1", seq: 2, reason: "r" });
    expect(await find("total:5")).toEqual(["o1"]);
    expect(await find("total:10")).toEqual([]);
    await at.runtime.forkInstance(local, { instanceId: "o1", id: "o2", seq: 3, reason: "r" });
    expect(await find("total:10")).toEqual(["o2"]);
    await publishNext(at.runtime, "order", { ...order, settings: { index: ["customer.id"] } });
    await at.runtime.migrateInstance(local, { instanceId: "o1", version: 2, reason: "r" });
    expect(await find("total:5")).toEqual([]);
    expect(await find("customer.id:nobody")).toEqual(["o2", "o1"]);
    await at.runtime.migrateInstance(local, { instanceId: "o1", version: 1, reason: "r" });
    expect(await find("total:5")).toEqual(["o1"]);
    for (const instanceId of ["o1", "o2"]) await at.runtime.deleteInstance(local, { instanceId });
    expect(await rows()).toBe(0);
    await start("o1");
    expect(await find("customer.id:nobody")).toEqual(["o1"]);
  });

  test("a field that no version declares is refused with those that are, never everything; a batch refuses it too", async () => {
    await publish(at.runtime, "plain", { lockstep: 1, initial: "a", states: { a: {} } });
    const refused = async (filter: object, words: string) => {
      for (const ask of [
        at.runtime.listInstances(local, filter),
        at.runtime.countBatch(local, { selection: { filter } }),
        at.runtime.createBatch(local, { verb: "suspend", selection: { filter }, reason: "r" }),
      ]) {
        await expect(ask).rejects.toThrow(words);
      }
    };
    await refused({ index: ["total:1"] }, "name the chart too");
    await refused({ chartId: "order", index: ["totl:1"] }, "It declares total, customer.id");
    await refused({ chartId: "order", index: ["total"] }, "It declares total, customer.id");
    await refused({ chartId: "order", index: ["total:\0"] }, "can't be stored");
    await refused({ chartId: "plain", index: ["total:1"] }, "It declares none");
    await refused({ chartId: "none", index: ["total:1"] }, "no chart none");
  });
});
