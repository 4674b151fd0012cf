import { afterEach, expect, test } from "vitest";
import { freshDatabase, providers } from "@/lib/testing/database";
import { killChildren } from "./child";
import { runFanOut } from "./fan-out";

afterEach(killChildren);

test.each(providers)(
  "I9: on %s, 300 children, cap 100, join of a quorum, the worker killed three times on the way: each joins once, none is left over",
  async (provider) => {
    const database = await freshDatabase(provider);
    try {
      const report = await runFanOut({ url: database.url, count: 300, cap: 100, kills: 3 });
      expect(report.begunAtKills.some((begun) => begun > 0 && begun < 300)).toBe(true);
    } finally {
      await killChildren();
      await database.drop();
    }
  },
  120_000,
);
