import { expect, test } from "vitest";
import { readConfig } from "./config";

test("an empty environment serves SQLite in .lockstep on 127.0.0.1:3000", () => {
  expect(readConfig({})).toMatchObject({
    databaseUrl: "file:.lockstep/lockstep.db",
    database: "sqlite",
    host: "127.0.0.1",
    port: 3000,
    seeds: true,
    slots: 4,
    fairness: { highRatio: 0.8, priorityThreshold: 2 },
  });
  expect(readConfig({ PORT: "", DATABASE_URL: "" }).port).toBe(3000);
});

test("a PostgreSQL URL is named without its password", () => {
  const config = readConfig({ DATABASE_URL: "postgresql://me:secret@db.example:5432/fleet" });
  expect(config.database).toBe("postgresql");
  expect(config.databaseName).not.toContain("secret");
  expect(config.databaseName).toContain("db.example:5432/fleet");
});

test("every wrong variable is named", () => {
  const wrong = { PORT: "80a", DATABASE_URL: "mysql://x", LOCKSTEP_SEEDS: "maybe" };
  expect(() => readConfig(wrong)).toThrow(/DATABASE_URL must be.*PORT must be a port number.*LOCKSTEP_SEEDS/);
});

test("slots and shares of claims are numbers within their bounds", () => {
  const given = { LOCKSTEP_SLOTS: "9", LOCKSTEP_HIGH_RATIO: "0.5", LOCKSTEP_PRIORITY_THRESHOLD: "0" };
  expect(readConfig(given)).toMatchObject({ slots: 9, fairness: { highRatio: 0.5, priorityThreshold: 0 } });
  const wrong = { LOCKSTEP_SLOTS: "0", LOCKSTEP_HIGH_RATIO: "2", LOCKSTEP_PRIORITY_THRESHOLD: "x" };
  expect(() => readConfig(wrong)).toThrow(
    /LOCKSTEP_SLOTS must be.*LOCKSTEP_HIGH_RATIO must be a number from 0 to 1.*LOCKSTEP_PRIORITY_THRESHOLD must be/,
  );
});
