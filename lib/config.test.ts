import { expect, test } from "vitest";
import { readConfig } from "./config";

test("an empty environment serves SQLite in .lockstep on 127.0.0.1:3000", () => {
  expect(readConfig({})).toMatchObject({
    databaseUrl: "file:.lockstep/lockstep.db",
    database: "sqlite",
    host: "127.0.0.1",
    port: 3000,
    seeds: true,
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
