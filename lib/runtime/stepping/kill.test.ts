import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { freshDatabase, providers } from "@/lib/testing/database";
import { runKillRounds } from "@/lib/testing/kill-rounds";
import { bundleProgram } from "@/lib/testing/program";

const rounds = 12;

test.each(providers)(
  "I9: on %s, killed 12 times in the middle of sends, nothing acknowledged is lost and nothing is doubled",
  async (provider) => {
    const program = await bundleProgram("lib/testing/kill-process.ts", `kill-process-${provider}`);
    const database = await freshDatabase(provider);
    try {
      const report = await runKillRounds({ url: database.url, rounds, seed: randomInt(2 ** 31), program });
      expect(report.acknowledged).toBeGreaterThan(rounds);
      expect(report.unanswered).toBeGreaterThan(0);
    } finally {
      await database.drop();
    }
  },
  180_000,
);
