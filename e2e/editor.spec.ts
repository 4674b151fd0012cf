/**
 * Drawing a machine from nothing: gestures, labels, re-parenting, undo, errors at their field, saving, working offline,
 * two people on one draft, publishing with errors.
 */
import { expect, test, type Page } from "@playwright/test";
import { apiOf } from "./api";

const state = (page: Page, name: string) => page.locator(`[data-testid=state][data-name="${name}"]`);

async function boxOf(page: Page, name: string) {
  const box = await state(page, name).boundingBox();
  if (!box) throw new Error(`${name} is not on the canvas`);
  return { ...box, right: box.x + box.width, midX: box.x + box.width / 2, midY: box.y + box.height / 2 };
}

async function nameIt(page: Page, name: string) {
  await page.getByTestId("name-field").first().waitFor();
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
  await expect(state(page, name)).toBeVisible();
}

async function drag(page: Page, from: { x: number; y: number }, to: { x: number; y: number }) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 6 });
  await page.mouse.move(to.x, to.y, { steps: 6 });
  await page.mouse.up();
}

test("draw, label, re-parent, undo; errors, offline work, conflicts and refused publishing", async ({
  page,
  request,
}) => {
  const api = apiOf(request);
  const chartId = "drawn-from-nothing";
  await api.post("/charts", { id: chartId, text: JSON.stringify({ lockstep: 1, context: { n: 3 } }) });
  await page.goto(`/charts/${chartId}`);
  await expect(page.getByTestId("canvas")).toBeVisible();

  await test.step("a double click makes a state, a drag from its border a transition and its target", async () => {
    await page.mouse.dblclick(500, 300);
    await nameIt(page, "Idle");
    const idle = await boxOf(page, "Idle");
    await drag(page, { x: idle.right, y: idle.midY }, { x: idle.right + 260, y: idle.midY });
    await nameIt(page, "Working");
    await expect(page.getByTestId("transition")).toHaveCount(1);
  });

  await test.step("one text field says event, guard and actions", async () => {
    await page.getByTestId("transition").dblclick();
    await page.getByTestId("label-field").waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("start [context.n > 0] / assign n = context.n - 1");
    await page.keyboard.press("Enter");
    await expect(page.getByTestId("transition")).toContainText("start [context.n > 0]");
  });

  await test.step("a state dragged into a compound keeps its transitions; undo and redo are one step", async () => {
    await page.mouse.click(300, 700);
    await page.getByTestId("add-compound").click();
    await nameIt(page, "Group");
    const group = await boxOf(page, "Group");
    const working = await boxOf(page, "Working");
    await drag(
      page,
      { x: working.midX, y: working.midY },
      { x: group.right - 60, y: group.y + group.height - 30 },
    );
    await expect(state(page, "Group.Working")).toBeVisible();
    await page.keyboard.press("ControlOrMeta+z");
    await expect(state(page, "Working")).toBeVisible();
    await page.keyboard.press("ControlOrMeta+Shift+z");
    await expect(state(page, "Group.Working")).toBeVisible();
    await api.until(`/charts/${chartId}`, (chart) =>
      (chart["draft"] as { text: string }).text.includes("Group.Working"),
    );
  });

  await test.step("a broken guard is told at its field and stops publishing", async () => {
    await page.getByTestId("transition").filter({ hasText: "start" }).click();
    await page.getByTestId("guard-field").locator(".cm-content").click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("context.n > ");
    await expect(page.getByTestId("field-problems")).toBeVisible();
    await expect(page.getByTestId("save-chip")).toContainText("Saved");
    await page.getByTestId("publish").click();
    await expect(page.getByTestId("publish-errors")).toBeVisible();
    await expect(page.getByTestId("publish-confirm")).toBeDisabled();
    await page.keyboard.press("Escape");
    await page.getByTestId("guard-field").locator(".cm-content").click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("context.n > 1");
    await api.until(`/charts/${chartId}`, (chart) =>
      JSON.stringify(chart["draft"]).includes("context.n > 1"),
    );
  });

  await test.step("work done while the server is out of reach survives a reload and is saved later", async () => {
    await page.route("**/api/v1/charts/*/draft", (route) => route.abort());
    await page.getByRole("button", { name: "Fit" }).click();
    await state(page, "Idle").click();
    await page.keyboard.press("F2");
    await page.getByTestId("name-field").first().waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await nameIt(page, "Ready");
    await expect(page.getByTestId("save-chip")).toContainText("Unsaved");
    await page.unroute("**/api/v1/charts/*/draft");
    await page.reload();
    await expect(state(page, "Ready")).toBeVisible();
    await api.until(`/charts/${chartId}`, (chart) => JSON.stringify(chart["draft"]).includes("Ready"));
  });

  await test.step("two people on one draft: nothing is overwritten unasked", async () => {
    const theirs = (await api.get(`/charts/${chartId}`)).body["draft"] as {
      revision: number;
      text: string;
      layout: unknown;
    };
    const chart = JSON.parse(theirs.text) as { states: Record<string, unknown> };
    chart.states["Other"] = {};
    const saved = await api.call("PUT", `/charts/${chartId}/draft`, {
      baseRevision: theirs.revision,
      text: JSON.stringify(chart),
      layout: theirs.layout,
    });
    expect(saved.status).toBe(200);
    const stale = await api.call("PUT", `/charts/${chartId}/draft`, {
      baseRevision: theirs.revision,
      text: theirs.text,
      layout: theirs.layout,
    });
    expect(stale.status).toBe(409);
    expect(stale.body).toMatchObject({
      error: {
        code: "draft-conflict",
        details: { baseRevision: theirs.revision, revision: theirs.revision + 1 },
      },
    });
    await state(page, "Ready").click();
    await page.keyboard.press("ArrowRight");
    await expect(page.getByTestId("conflict")).toBeVisible();
    await expect(state(page, "Ready")).toBeVisible();
    await page.getByTestId("keep-mine").click();
    await expect(page.getByTestId("save-chip")).toContainText("Saved");
  });
});

test("a text that is no chart is refused with its place, and nothing is made", async ({ page, request }) => {
  await page.goto("/charts?import=1");
  for (const [text, told] of [
    ['{"lockstep": 1,\n  "states": {', "Line 2"],
    ['<?xml version="1.0"?>\n<!DOCTYPE x [<!ENTITY a "aaaa">]>\n<scxml>&a;</scxml>', "Line 2"],
    ["not a chart at all", "can't be imported"],
  ] as const) {
    await page.getByTestId("import-text").fill(text);
    await expect(page.getByTestId("import-problems")).toContainText(told);
    await expect(page.getByTestId("import-confirm")).toBeDisabled();
  }
  const charts = await apiOf(request).get("/charts");
  expect(JSON.stringify(charts.body)).not.toContain("not-a-chart");
});
