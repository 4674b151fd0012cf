/**
 * A schedule from the console: written with its next times in view, fired by a worker, run by hand, paused, deleted.
 */
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";
import { apiOf } from "./api";

const scheduleId = "every-two-seconds";

test("write a schedule, see it fire, run it by hand, pause it, delete it", async ({ page, request }) => {
  const api = apiOf(request);
  await test.step("what is wrong is told at its field, what is right shows its next times", async () => {
    await page.goto("/schedules");
    await page.getByTestId("new-schedule").click();
    await page.getByTestId("schedule-id").fill(scheduleId);
    await page.getByTestId("schedule-cron").fill("61 * * * *");
    await expect(page.getByTestId("schedule-dialog")).toContainText("Invalid value for minute: 61.");
    await page.getByTestId("schedule-cron").fill("30 2 * * *");
    await page.getByTestId("schedule-zone").fill("Europe/Berlin");
    await expect(page.getByTestId("schedule-preview").locator("time")).toHaveCount(5);
    await expect(page.getByTestId("schedule-preview")).toContainText("02:30:00 CE");
    expect((await new AxeBuilder({ page }).analyze()).violations.map(({ id }) => id)).toEqual([]);
    await page.getByTestId("schedule-cron").fill("*/2 * * * * *");
    await page.getByTestId("schedule-chart").selectOption("order");
    await page.getByTestId("schedule-submit").click();
    await expect(page.getByTestId("schedule-detail")).toContainText(scheduleId);
  });

  await test.step("it fires, and its instance is one click away", async () => {
    const tick = page.getByTestId("tick-row").first();
    await expect(tick).toContainText("started");
    await page.getByTestId("turn-schedule").click();
    await expect(page.getByTestId("schedule-detail").getByTestId("schedule-status")).toHaveText("paused");
    await api.until(`/schedules/${scheduleId}`, (schedule) => schedule["nextAt"] === null);
    const instanceId = (await page.getByTestId("tick-row").first().getByRole("link").textContent()) ?? "";
    const { body } = await api.get(`/instances/${instanceId}/log`);
    expect((body["items"] as { actor: string }[])[0]?.actor).toBe(`schedule:${scheduleId}`);
  });

  await test.step("it runs by hand while it is paused", async () => {
    await page.getByTestId("run-schedule").click();
    await expect(page.getByTestId("tick-row").first()).toContainText("by hand, local");
  });

  await test.step("it is deleted; what it started goes on", async () => {
    await page.getByTestId("schedule-menu").click();
    await page.getByTestId("delete-schedule").click();
    await page.getByTestId("delete-schedule-submit").click();
    await expect(page.locator(`[data-testid=schedule-row][data-key="${scheduleId}"]`)).toHaveCount(0);
    expect((await api.get(`/schedules/${scheduleId}`)).status).toBe(404);
  });
});
