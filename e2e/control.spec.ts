/**
 * An operator's day on the instance page: halt and go on, end, take up a failed one, start again from earlier, move to
 * another version, find a child from its parent.
 */
import AxeBuilder from "@axe-core/playwright";
import { expect, test, type Page } from "@playwright/test";
import { apiOf } from "./api";

const first = {
  lockstep: 1,
  settings: { errors: "stop" },
  context: { paid: 0 },
  initial: "cart",
  states: {
    cart: { on: { pay: "paying" } },
    paying: {
      on: {
        ship: "shipping",
        fail: { actions: [{ assign: { paid: "context.nothing.at.all" } }] },
      },
    },
    shipping: {
      invoke: { id: "legs", src: "each", input: { chart: "'control-leg'", items: "['a', 'b', 'c']" } },
      on: { "done.invoke.legs": "sent", "error.invoke.legs": "lost" },
    },
    sent: {},
    lost: {},
  },
};
const second = {
  ...first,
  states: {
    ...first.states,
    cart: { on: { pay: "charging" } },
    paying: undefined,
    charging: { on: { ship: "shipping" } },
  },
};
const leg = {
  lockstep: 1,
  output: "input",
  initial: "driving",
  states: { driving: { on: { arrive: "there" } }, there: { type: "final" } },
};

type Api = ReturnType<typeof apiOf>;

const repair = async (page: Page, item: string) => {
  await page.getByTestId("repair").click();
  await page.getByTestId(item).click();
};
const control = async (page: Page, verb: string) => {
  await repair(page, `control-${verb}`);
  const dialog = page.getByTestId("control-dialog");
  await dialog.getByLabel("Reason").fill(`to ${verb} it`);
  await page.getByTestId("control-submit").click();
  await expect(dialog).toBeHidden();
};
const status = (page: Page) => page.locator("header").getByTestId("status");

const sendTo = (api: Api) => (id: string, type: string) =>
  api.post(`/instances/${id}/events`, { type, waitMs: 0 });

/** Two versions of the chart, five instances of the first; the fifth has children. */
test.beforeAll(async ({ request }) => {
  const api = apiOf(request);
  const publish = async (chartId: string, revision: unknown) =>
    expect((await api.post(`/charts/${chartId}/versions`, { revision })).status).toBe(201);
  await api.post("/charts", { id: "control-leg", text: JSON.stringify(leg) });
  await publish("control-leg", 1);
  const { body } = await api.post("/charts", { id: "control", text: JSON.stringify(first) });
  await publish("control", 1);
  const { layout } = body["draft"] as { layout: unknown };
  const draft = { baseRevision: 1, text: JSON.stringify(second), layout };
  const saved = await api.call("PUT", "/charts/control/draft", draft);
  await publish("control", saved.body["revision"]);
  for (const name of ["one", "two", "three", "four", "five"]) {
    await api.post("/instances", { chartId: "control", version: 1, id: `control-${name}` });
  }
  await sendTo(api)("control-five", "pay");
  await sendTo(api)("control-five", "ship");
});

test("suspend, resume, end, redrive, start again, migrate, and a child seen from its parent", async ({
  page,
  request,
}) => {
  const api = apiOf(request);
  const send = sendTo(api);
  const statusOf = async (id: string) => (await api.get(`/instances/${id}`)).body["status"];

  await test.step("a suspended one keeps what is sent to it, and applies it when resumed", async () => {
    await page.goto("/instances/control-one");
    await control(page, "suspend");
    await expect(page.getByTestId("halt-banner")).toContainText("Suspended.");
    await send("control-one", "pay");
    await expect(page.getByTestId("halt-banner")).toContainText("1 message waits");
    await page.getByTestId("halt-action").click();
    await page.getByTestId("control-dialog").getByLabel("Reason").fill("the lane is free");
    await page.getByTestId("control-submit").click();
    await expect(page.getByTestId("halt-banner")).toBeHidden();
    await api.until(
      "/instances/control-one",
      (body) => JSON.stringify(body["configuration"]) === '["paying"]',
    );
  });

  await test.step("cancel one, terminate another", async () => {
    await control(page, "cancel");
    await expect(status(page)).toHaveText("cancelled");
    await page.goto("/instances/control-two");
    await control(page, "terminate");
    await expect(status(page)).toHaveText("terminated");
    expect([await statusOf("control-one"), await statusOf("control-two")]).toEqual([
      "cancelled",
      "terminated",
    ]);
  });

  await test.step("a failed one is redriven, and starts again from before it failed", async () => {
    await send("control-three", "pay");
    await send("control-three", "fail");
    await api.until("/instances/control-three", (body) => body["status"] === "failed");
    await page.goto("/instances/control-three");
    await expect(page.getByTestId("halt-banner")).toContainText("Failed.");
    await control(page, "redrive");
    // Nothing has changed since: the same event fails it again.
    await api.until("/instances/control-three", (body) => body["status"] === "failed" && body["seq"] === 5);
    await repair(page, "reset");
    await expect(page.getByTestId("reset-submit")).toBeDisabled();
    await page.getByTestId("reset-seq").fill("99");
    await expect(page.getByRole("alert")).toContainText("give a number from 1 to 5");
    await page.getByTestId("reset-seq").fill("3");
    await expect(page.getByRole("alert")).toContainText("At #3 it had failed");
    await page.getByTestId("reset-seq").fill("2");
    await expect(page.getByTestId("reset-then")).toContainText("paying");
    await expect(page.getByTestId("reset-abandoned")).toContainText("3 events after #2");
    await page.getByTestId("reset-reason").fill("the price was wrong");
    await page.getByTestId("reset-submit").click();
    await expect(page.getByTestId("reset-dialog")).toBeHidden();
    await expect(status(page)).toHaveText("running");
    expect((await api.get("/instances/control-three")).body).toMatchObject({
      seq: 6,
      configuration: ["paying"],
    });
  });

  await test.step("move it to a version that calls its state otherwise", async () => {
    await repair(page, "migrate");
    await expect(page.getByTestId("migrate-state")).toContainText("needs mapping");
    await expect(page.getByTestId("migrate-state")).toContainText("no state paying");
    await page.getByTestId("migrate-reason").fill("charging replaces paying");
    await expect(page.getByTestId("migrate-submit")).toBeDisabled();
    await page.getByTestId("migrate-pick").click();
    await page.keyboard.type("charg");
    await page.keyboard.press("Enter");
    await expect(page.getByTestId("migrate-state")).toContainText("ok");
    await page.getByTestId("migrate-submit").click();
    await expect(page.getByTestId("migrate-dialog")).toBeHidden();
    expect((await api.get("/instances/control-three")).body).toMatchObject({
      version: 2,
      configuration: ["charging"],
    });
  });

  await test.step("children are seen from their parent, and lead back to it", async () => {
    await send("control-four", "pay");
    await send("control-four", "ship");
    await page.goto("/instances/control-four?tab=children");
    await expect(page.getByTestId("child")).toHaveCount(3);
    await expect(page.getByTestId("waits-banner")).toContainText(
      "It waits for the children of legs. 0 of 3 children done.",
    );
    const child = page.getByTestId("child").first().getByRole("link");
    const id = (await child.textContent()) ?? "";
    await send(id, "arrive");
    await expect(page.getByTestId("child").first()).toContainText('result "a"');
    await expect(page.getByTestId("family")).toContainText("1 of 3 succeeded · 2 running");
    await child.click();
    await expect(page.getByTestId("page-title")).toHaveText(id);
    await page.getByTestId("parent").click();
    await expect(page.getByTestId("page-title")).toHaveText("control-four");
    await expect(page.getByTestId("child")).toHaveCount(3);
    await page.goto("/instances?id=control-four");
    await page.getByTestId("filter-condition").click();
    await page.getByRole("button", { name: "a child instance" }).click();
    await expect(page.getByTestId("instance-row")).toContainText("waits for the children of legs");
  });
});

test("one in line says for which key it waits and who has it, and begins when that has ended", async ({
  page,
  request,
}) => {
  const api = apiOf(request);
  const settings = { concurrencyKey: "input.crane" };
  await api.post("/charts", { id: "control-crane", text: JSON.stringify({ ...leg, settings }) });
  await api.post("/charts/control-crane/versions", { revision: 1 });
  for (const id of ["crane-one", "crane-two"])
    await api.post("/instances", { chartId: "control-crane", id, input: { crane: "C1" } });
  await page.goto("/instances/crane-two");
  await expect(page.getByTestId("halt-banner")).toContainText(
    "It waits for the concurrency key C1, which crane-one has.",
  );
  await expect(page.getByText("Nothing has happened yet")).toBeVisible();
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await api.post("/instances/crane-one/events", { type: "arrive" });
  await expect(status(page)).toHaveText("running");
  await expect(page.getByTestId("event-row")).toHaveCount(1);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`the family and the dialogs of repair are accessible in ${colorScheme}`, async ({ browser }) => {
    const context = await browser.newContext({ colorScheme });
    const page = await context.newPage();
    const clean = async (what: string) => {
      // What comes in fades in: half-way there its contrast is not yet its own.
      await page.waitForTimeout(300);
      const found = await new AxeBuilder({ page }).analyze();
      expect(
        found.violations.map(({ id, nodes }) => `${what}: ${id}: ${nodes[0]?.html.slice(0, 160)}`),
      ).toEqual([]);
    };
    await page.goto("/instances/control-five?tab=children");
    await expect(page.getByTestId("child")).toHaveCount(3);
    await clean("family");
    await page.goto("/instances/control-five?seq=2");
    await repair(page, "reset");
    await expect(page.getByTestId("reset-abandoned")).toContainText("legs");
    await clean("reset");
    await page.getByRole("button", { name: "Back", exact: true }).click();
    await repair(page, "migrate");
    await expect(page.getByTestId("migrate-state")).toContainText("ok");
    await clean("migrate");
    await page.getByTestId("migrate-pick").click();
    await clean("state picker");
    await context.close();
  });
}
