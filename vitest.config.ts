/**
 * Unit, property and store tests: everything named *.test.ts beside its code. Browser journeys live in e2e (Playwright).
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL(".", import.meta.url)) } },
  test: {
    include: ["{lib,components,docs,scripts,prisma}/**/*.test.{ts,tsx}"],
    globalSetup: ["lib/testing/postgres-broker.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
