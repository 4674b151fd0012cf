/**
 * Every page, light and dark, without a violation that axe can find.
 */
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";

const pages = [
  ["overview", "/"],
  ["charts", "/charts"],
  ["editor", "/charts/order"],
  ["instances", "/instances"],
  ["time travel", "/instances/agv-07?seq=2"],
  ["locks", "/locks?key=zone:Z-14"],
  ["work", "/work"],
  ["schedules", "/schedules"],
  ["batches", "/batches"],
] as const;

for (const colorScheme of ["light", "dark"] as const) {
  for (const [name, path] of pages) {
    test(`${name} is accessible in ${colorScheme}`, async ({ browser }) => {
      const context = await browser.newContext({ colorScheme });
      const page = await context.newPage();
      await page.goto(path);
      await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
      await expect(page.getByRole("main")).toBeVisible();
      await page.waitForLoadState("networkidle", { timeout: 3_000 }).catch(() => undefined);
      const found = await new AxeBuilder({ page }).analyze();
      const told = found.violations.map(
        (violation) => `${violation.id}: ${violation.nodes[0]?.html.slice(0, 160)}`,
      );
      expect(told).toEqual([]);
      await context.close();
    });
  }
}
