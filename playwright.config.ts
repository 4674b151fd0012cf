/**
 * Journeys in a real Chromium against the product as `npm start` runs it, on a database of its own.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

const executablePath = [process.env["CHROMIUM_PATH"], "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
  (path) => path !== undefined && existsSync(path),
);
const port = Number(process.env["E2E_PORT"] ?? 3400);
// Workers of the runner read this file again: the first reading decides the folder.
const data = (process.env["E2E_DATA"] ??= mkdtempSync(join(tmpdir(), "lockstep-e2e-")));

export default defineConfig({
  testDir: "e2e",
  outputDir: `test-results/${port}`,
  fullyParallel: false,
  workers: 1,
  timeout: 90_000,
  expect: { timeout: 10_000 },
  forbidOnly: process.env["CI"] !== undefined,
  reporter: process.env["PLAYWRIGHT_JSON_OUTPUT_FILE"] ? [["list"], ["json"]] : [["list"]],
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    viewport: { width: 1440, height: 900 },
    trace: "retain-on-failure",
    screenshot: "only-on-failure",
    launchOptions: {
      ...(executablePath === undefined ? {} : { executablePath }),
      args: [
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-quic",
        "--no-first-run",
      ],
    },
  },
  webServer: {
    command: "node scripts/start.mjs",
    url: `http://127.0.0.1:${port}/api/v1/health`,
    timeout: 240_000,
    gracefulShutdown: { signal: "SIGTERM", timeout: 10_000 },
    env: {
      PORT: String(port),
      DATABASE_URL: process.env["E2E_DATABASE_URL"] ?? `file:${join(data, "lockstep.db")}`,
    },
    stdout: "ignore",
    stderr: "pipe",
  },
});
