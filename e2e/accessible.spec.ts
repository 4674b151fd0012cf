/**
 * Every page, light and dark, without a violation that axe can find.
 */
import AxeBuilder from "@axe-core/playwright";
import { expect, test, type Page, type Request } from "@playwright/test";

const pages = [
  ["overview", "/"],
  ["charts", "/charts"],
  ["editor", "/charts/order"],
  ["instances", "/instances"],
  ["time travel", "/instances/agv-07?seq=2"],
  ["locks", "/locks?key=zone:Z-14"],
  ["work", "/work"],
  ["workers", "/work/workers"],
  ["schedules", "/schedules"],
  ["batches", "/batches"],
] as const;

for (const colorScheme of ["light", "dark"] as const) {
  for (const [name, path] of pages) {
    test(`${name} is accessible in ${colorScheme}`, async ({ browser }) => {
      const context = await browser.newContext({ colorScheme });
      const page = await context.newPage();
      const settled = watchRequests(page);
      await page.goto(path);
      await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
      await expect(page.getByRole("main")).toBeVisible();
      await expect.poll(settled, { timeout: 10_000, intervals: [50] }).toBe(true);
      const found = await new AxeBuilder({ page }).analyze();
      const told = found.violations.map(
        (violation) => `${violation.id}: ${violation.nodes[0]?.html.slice(0, 160)}`,
      );
      expect(told).toEqual([]);
      await context.close();
    });
  }
}

/** Nothing was asked for in the last half second; the stream of changes, which never ends, apart. */
function watchRequests(page: Page): () => boolean {
  const open = new Set<Request>();
  let changedAt = Date.now();
  const ended = (request: Request) => {
    if (open.delete(request)) changedAt = Date.now();
  };
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/v1/changes") return;
    open.add(request);
    changedAt = Date.now();
  });
  page.on("requestfinished", ended);
  page.on("requestfailed", ended);
  return () => open.size === 0 && Date.now() - changedAt > 500;
}
