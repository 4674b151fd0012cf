/**
 * One verb for many instances from the console: chosen by boxes and as all that match, counted, confirmed, followed.
 */
import { expect, test } from "@playwright/test";
import { apiOf } from "./api";

test("suspend two that are chosen, then terminate all that match", async ({ page, request }) => {
  const api = apiOf(request);
  for (const n of [1, 2, 3]) {
    await api.post("/instances", {
      chartId: "order",
      id: `fair-${n}`,
      input: { orderId: `f-${n}`, amount: 1 },
      labels: { hall: n === 2 ? "east" : "west", fair: "spring" },
    });
  }
  const statusOf = async (n: number) => (await api.get(`/instances/fair-${n}`)).body["status"];

  await test.step("choose two, say why, and see what became of them", async () => {
    await page.goto("/instances?id=fair-");
    await page.getByRole("checkbox", { name: "fair-1" }).check();
    await page.getByRole("checkbox", { name: "fair-3" }).check();
    await expect(page.getByTestId("selected-count")).toHaveText("2 selected");
    await page.getByTestId("batch-suspend").click();
    await expect(page.getByTestId("batch-count")).toContainText("2 instances selected: 2 running");
    await page.getByTestId("batch-reason").fill("stands closed");
    await page.getByTestId("batch-submit").click();
    await expect(page).toHaveURL(/\/batches\/b-/);
    await expect(page.getByTestId("batch-progress")).toContainText("all 2");
    await expect(page.getByTestId("batch-item")).toHaveCount(2);
    expect([await statusOf(1), await statusOf(2), await statusOf(3)]).toEqual([
      "suspended",
      "running",
      "suspended",
    ]);
  });

  await test.step("labels narrow the list, all of them at once, and are in the address", async () => {
    await page.goto("/instances");
    await page.getByTestId("filter-label").click();
    await page.getByTestId("filter-label-value").fill("fair:spring");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await expect(page.getByTestId("instance-row")).toHaveCount(3);
    await page.getByTestId("filter-label").click();
    await page.getByTestId("filter-label-value").fill("hall:east");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await expect(page.getByTestId("instance-row")).toHaveCount(1);
    await expect(page).toHaveURL(/label=fair%3Aspring&label=hall%3Aeast/);
  });

  await test.step("what is not brought back asks for the count", async () => {
    await page.goto("/instances?id=fair-");
    await page.getByRole("checkbox", { name: "fair-2" }).check();
    await page.getByTestId("select-whole").click();
    await page.getByTestId("batch-more").click();
    await page.getByTestId("batch-terminate").click();
    await expect(page.getByTestId("batch-count")).toContainText("3 instances match now");
    await page.getByTestId("batch-reason").fill("the fair is over");
    await expect(page.getByTestId("batch-submit")).toBeDisabled();
    await page.getByTestId("batch-typed").fill("3");
    await page.getByTestId("batch-submit").click();
    await expect(page.getByTestId("batch-progress")).toContainText("all 3");
    await expect(page.getByTestId("batch-status")).toHaveText("done");
    expect([await statusOf(1), await statusOf(2), await statusOf(3)]).toEqual(Array(3).fill("terminated"));
    await page.goto("/instances?id=fair-");
    await page.getByRole("checkbox", { name: "fair-2" }).check();
    await page.getByTestId("batch-more").click();
    await page.getByTestId("batch-delete").click();
    await page.getByTestId("batch-reason").fill("swept up");
    await expect(page.getByTestId("batch-submit")).toBeDisabled();
    await page.getByTestId("batch-typed").fill("1");
    await page.getByTestId("batch-submit").click();
    await expect(page.getByTestId("batch-progress")).toContainText("all 1");
    expect((await api.get("/instances/fair-2")).status).toBe(404);
    await page.getByRole("link", { name: "Batches" }).click();
    await expect(page.getByTestId("batch-row").nth(1)).toContainText("terminate: idPrefix fair-");
  });
});

test("what became of each is read again when the batch is over, though it was read while it was listed", async ({
  page,
  request,
}) => {
  const api = apiOf(request);
  for (const n of [1, 2])
    await api.post("/instances", {
      chartId: "order",
      id: `late-${n}`,
      input: { orderId: `l-${n}`, amount: 1 },
    });
  const { body } = await api.post("/batches", {
    verb: "suspend",
    selection: { instanceIds: ["late-1", "late-2"] },
    reason: "stands closed",
  });
  const id = String(body["id"]);
  await expect.poll(async () => (await api.get(`/batches/${id}`)).body["status"]).toBe("done");
  // As it was at the first look: listed still, and no item of it there.
  await page.route(
    `**/api/v1/batches/${id}`,
    async (route) => {
      const json = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...json, status: "listing", endedAt: null, total: 0, ok: 0 } });
    },
    { times: 1 },
  );
  await page.route(
    `**/api/v1/batches/${id}/items*`,
    (route) => route.fulfill({ json: { items: [], nextCursor: null } }),
    { times: 1 },
  );
  await page.goto(`/batches/${id}`);
  await expect(page.getByTestId("batch-progress")).toContainText("all 2");
  await expect(page.getByTestId("batch-item")).toHaveCount(2);
});
