import { afterEach, describe, expect, test } from "vitest";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, type TestRuntime } from "@/lib/testing/runtime";
import { plantExamples } from "./compose";
import { exampleCharts, exampleInstances, exampleLocks } from "./seeds/examples";

describe.each(providers)("on %s", (provider) => {
  let at: TestRuntime;
  afterEach(() => at.end());

  test("a new database gets the examples once, with real history that replays", async () => {
    at = await freshRuntime(provider);
    const { runtime } = at;
    await plantExamples(runtime);
    await plantExamples(runtime);
    const charts = await runtime.listCharts(local, {});
    expect(charts.items.map(({ id, version }) => [id, version])).toEqual(
      exampleCharts.map(({ id }) => [id, 1]),
    );
    const { items } = await runtime.listInstances(local, {});
    expect(items).toHaveLength(exampleInstances.length);
    for (const { id, seq } of items) {
      const example = exampleInstances.find((each) => each.id === id);
      expect(seq).toBe((example?.events.length ?? 0) + 1);
      expect(await runtime.getState(local, { instanceId: id })).toMatchObject({ hashMatches: true });
    }
    const waiting = items.find(({ id }) => id === "agv-07");
    expect(waiting?.configuration).toEqual(["Waiting", "Normal"]);
    const locks = await runtime.listLocks(local, {});
    expect(locks.items).toHaveLength(new Set(exampleLocks.map(({ key }) => key)).size);
    expect(locks.items[0]).toMatchObject({ key: "zone:Z-14", waiters: 1, holder: "agv-12" });
  });

  test("a database in which someone works already gets none", async () => {
    at = await freshRuntime(provider);
    await at.runtime.createChart(local, { id: "mine", text: "{}" });
    await plantExamples(at.runtime);
    expect((await at.runtime.listCharts(local, {})).items.map(({ id }) => id)).toEqual(["mine"]);
  });
});
