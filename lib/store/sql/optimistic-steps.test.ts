import pg from "pg";
import { expect, test } from "vitest";
import { freshDatabase } from "@/lib/testing/database";
import { must } from "@/lib/base/assert";
import type { InstanceRow, LogRow } from "../instances";
import type { StatesMoved } from "../steps";
import { openSqlStore } from "./open-sql-store";
import { optimisticSteps } from "./optimistic-steps";
import { planByKey } from "./postgres-pool";

/** A prepared statement keeps the plan it gets while its tables are empty. */
test.each([1, 2])(
  "planned on empty tables, the write of %i steps looks rows up by their keys",
  async (many) => {
    const texts: string[] = [];
    const steps = optimisticSteps(
      ({ text }) => {
        texts.push(text);
        return Promise.resolve([]);
      },
      () => undefined,
    );
    const row = { id: "i" } as InstanceRow;
    const moves: StatesMoved[] = [
      { left: ["a"], entered: ["b"] },
      { left: ["a"], entered: [] },
    ];
    for (const moved of moves)
      await steps.write(Array(many).fill({ row, log: {} as LogRow, moved, restated: false }), 100);
    const database = await freshDatabase("postgresql");
    await (await openSqlStore({ url: database.url, connections: 1 })).close();
    const client = new pg.Client({ connectionString: database.url, options: planByKey });
    await client.connect();
    expect(texts).toHaveLength(moves.length);
    for (const text of texts) {
      const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN (GENERIC_PLAN) ${text}`);
      const plan = rows.map((line) => line["QUERY PLAN"]);
      const ways = plan.filter((line) => /Scan.* on (instances|instance_states|mailbox)/.test(line));
      const taken = ways.map((line) => must(/(?:using (\w+)|Tid Scan)/.exec(line), line)[1] ?? "place");
      const keys = ["instances_pkey", "place", "instance_states_pkey"];
      expect(taken.filter((way) => !way.startsWith("mailbox")).every((way) => keys.includes(way))).toBe(true);
      expect(new Set(taken)).toContain("instances_pkey");
    }
    await client.end();
    await database.drop();
  },
);
