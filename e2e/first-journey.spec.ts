/**
 * The whole product once through, as its four users meet it: import a machine, change it, publish it, run it, rewind it,
 * ask why, free a lock, and see the old holder refused.
 */
import { join } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { apiOf } from "./api";

const chartId = "microwave-journey";
const instanceId = "oven-1";

const state = (page: Page, name: string) => page.locator(`[data-testid=state][data-name="${name}"]`);
const activeStates = (page: Page) =>
  page
    .locator("[data-testid=state][data-active]:not([data-container])")
    .evaluateAll((nodes) => nodes.map((node) => node.getAttribute("data-name")).sort());

test("import, edit, publish, run, rewind, ask why, free a lock", async ({ page, request }) => {
  const api = apiOf(request);

  await test.step("import the microwave from its SCXML file", async () => {
    await page.goto("/charts");
    await page.getByTestId("import-chart").click();
    await page.getByTestId("import-file").setInputFiles(join("examples", "microwave.scxml"));
    await expect(page.getByTestId("import-preview")).toContainText("SCXML");
    await page.getByTestId("import-id").fill(chartId);
    await page.getByTestId("import-confirm").click();
    await expect(page).toHaveURL(new RegExp(`/charts/${chartId}$`));
    await expect(state(page, "cooking")).toBeVisible();
    await expect(state(page, "closed")).toBeVisible();
  });

  await test.step("edit a guard; the draft is saved by itself", async () => {
    await page.locator('[data-testid=transition][data-id="on#always/0"]').click();
    const guard = page.getByTestId("guard-field").locator(".cm-content");
    await expect(guard).toHaveText("context.timer >= context.cook_time");
    await guard.click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("context.timer >= context.cook_time || context.timer > 60");
    await expect(page.getByTestId("save-chip")).toContainText("Saved");
    await expect(page.getByTestId("revision")).not.toHaveText("draft r1");
    await api.until(`/charts/${chartId}`, (chart) =>
      JSON.stringify(chart["draft"]).includes("context.timer > 60"),
    );
  });

  await test.step("publish version 1", async () => {
    await page.getByTestId("publish").click();
    await page.getByTestId("publish-confirm").click();
    await expect(page.getByTestId("published-dialog")).toContainText("1");
    const version = await api.get(`/charts/${chartId}/versions/1`);
    expect(version.body["text"]).toContain("context.timer > 60");
  });

  await test.step("start an instance", async () => {
    await page.goto("/instances");
    await page.getByTestId("start-instance").click();
    await page.getByTestId("start-chart").selectOption(chartId);
    await page.getByTestId("start-id").fill(instanceId);
    await page.getByTestId("start-instance-submit").click();
    await expect(page).toHaveURL(new RegExp(`/instances/${instanceId}`));
    await expect.poll(() => activeStates(page)).toEqual(["closed", "off"]);
  });

  await test.step("send five events", async () => {
    const events = ["turn.on", "time", "door.open", "time", "door.close"];
    for (const [sent, type] of events.entries()) {
      await page.getByTestId("send-event").click();
      await page.getByTestId("event-type").fill(type);
      await page.getByTestId("send-event-submit").click();
      await expect(page.locator(`[data-testid=event-row][data-seq="${sent + 2}"]`)).toBeVisible();
      await expect(page.getByTestId("send-event-dialog")).toBeHidden();
    }
    await expect.poll(() => activeStates(page)).toEqual(["closed", "cooking"]);
  });

  await test.step("scrub back to seq 2: that state on the chart and in the URL", async () => {
    await page.locator('[data-testid=event-row][data-seq="2"]').click();
    await expect(page).toHaveURL(/[?&]seq=2\b/);
    await expect(page.getByTestId("past-banner")).toContainText("#2 of 6");
    await expect(page.getByTestId("hash-check")).toHaveText("hash matches");
    await expect.poll(() => activeStates(page)).toEqual(["closed", "cooking"]);
    await expect(state(page, "off")).toHaveAttribute("data-exited", /.*/);
    await page.keyboard.press("ArrowRight");
    await expect(page).toHaveURL(/[?&]seq=3\b/);
    await page.reload();
    await expect(page.getByTestId("past-banner")).toContainText("#3 of 6");
  });

  await test.step("why was the second `time` ignored", async () => {
    await page.locator('[data-testid=event-row][data-seq="5"]').click();
    await expect(page.locator('[data-testid=event-row][data-seq="5"]')).toHaveAttribute(
      "data-outcome",
      "ignored",
    );
    await page.getByTestId("tab-why").click();
    await expect(page.getByTestId("why-ignored")).toBeVisible();
    await expect(page.getByTestId("why")).toContainText("none of the active states");
    await page.keyboard.press("Escape");
    await expect(page.getByTestId("past-banner")).toBeHidden();
  });

  const key = "oven:kitchen";
  const held = { session: "worker-a", holder: "worker-a" };
  await test.step("a second client holds a lock, and its fence passes", async () => {
    const grant = await api.post(`/locks/${encodeURIComponent(key)}/acquire`, { ...held, ttlMs: 600_000 });
    expect(grant.body).toMatchObject({ result: "acquired", fence: 1 });
    const write = await api.post(`/instances/${instanceId}/events`, {
      type: "door.open",
      fences: [{ key, session: held.session, fence: 1 }],
    });
    expect(write.body).toMatchObject({ state: "applied", outcome: "moved", seq: 7 });
  });

  await test.step("force-release it: reason, typed key, what is guaranteed", async () => {
    await page.goto(`/locks?key=${encodeURIComponent(key)}`);
    await expect(page.getByTestId("lock-detail")).toContainText("worker-a");
    await page.getByTestId("force-release").click();
    await page.getByTestId("way-force").click();
    await expect(page.getByTestId("force-release-submit")).toBeDisabled();
    await page.getByTestId("release-reason").fill("The oven was unplugged");
    await page.getByTestId("release-key").fill(key);
    await page.getByTestId("force-release-submit").click();
    await expect(page.getByTestId("lock-fence")).toHaveText("2");
    await expect(page.locator("[data-testid=lock-log-entry][data-type=FORCE_RELEASED]")).toContainText(
      "unplugged",
    );
  });

  await test.step("the old holder's next write is refused and shown", async () => {
    const write = await api.post(`/instances/${instanceId}/events`, {
      type: "door.close",
      fences: [{ key, session: held.session, fence: 1 }],
    });
    expect(write.status).toBe(409);
    expect(write.body).toMatchObject({ error: { code: "stale-fence" } });
    const instance = await api.get(`/instances/${instanceId}`);
    expect(instance.body).toMatchObject({
      seq: 7,
      configuration: expect.arrayContaining(["open"]),
    });
    await expect(page.getByTestId("rejected-writes")).toContainText("1");
    await expect(page.locator("[data-testid=lock-log-entry][data-type=WRITE_REJECTED]")).toBeVisible();
  });
});
