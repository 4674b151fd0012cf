import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anonymousActor } from "@/lib/access/actor";
import { sha256Hex } from "@/lib/base/canonical";
import { providers } from "@/lib/testing/database";
import { counter, freshRuntime, local, type TestRuntime } from "@/lib/testing/runtime";

const layout = { direction: "down" as const, states: { a: { x: 1, y: 2, w: 3, h: 4 } }, routes: {} };

describe.each(providers)("charts on %s", (provider) => {
  let at: TestRuntime;
  beforeEach(async () => {
    at = await freshRuntime(provider);
  });
  afterEach(() => at.end());
  const create = (text: string, id = "c") => at.runtime.createChart(local, { id, text });
  const publish = (revision: number, args: object = {}) =>
    at.runtime.publishVersion(local, { chartId: "c", revision, ...args });

  test("a draft may be anything, and is given back as it was", async () => {
    const text = '{ "half": ';
    const made = await create(text);
    expect(made).toMatchObject({ id: "c", version: null, revision: 1, draft: { text }, versions: [] });
    expect(await at.runtime.getChart(local, { chartId: "c" })).toEqual(made);
    await expect(create("{}")).rejects.toMatchObject({ code: "chart-exists" });
    await expect(at.runtime.getChart(local, { chartId: "none" })).rejects.toMatchObject({
      code: "not-found",
    });
    await expect(at.runtime.createChart(anonymousActor, { id: "x", text: "{}" })).rejects.toMatchObject({
      code: "forbidden",
    });
  });

  test("an edit of an old revision is refused with both revisions; of two at once one wins", async () => {
    await create("{}");
    const save = (text: string) =>
      at.runtime.saveDraft(local, { chartId: "c", baseRevision: 1, text, layout });
    const tries = await Promise.allSettled([save("one"), save("two")]);
    expect(tries.filter((each) => each.status === "fulfilled")).toHaveLength(1);
    await expect(save("three")).rejects.toMatchObject({
      code: "draft-conflict",
      details: { baseRevision: 1, revision: 2 },
    });
    const { draft } = await at.runtime.getChart(local, { chartId: "c" });
    expect(draft).toMatchObject({ revision: 2, layout });
    expect(["one", "two"]).toContain(draft.text);
  });

  test("a version is the draft in canonical form with its hash, and stays when the draft goes on", async () => {
    await create(JSON.stringify(counter, null, 2));
    const first = await publish(1, { note: "ü" });
    expect(first).toMatchObject({ version: 1, note: "ü", revision: 1, publishedBy: "local" });
    expect(first.hash).toBe(sha256Hex(first.text));
    await at.runtime.saveDraft(local, { chartId: "c", baseRevision: 1, text: "{}", layout });
    expect(await at.runtime.getVersion(local, { chartId: "c", version: 1 })).toEqual(first);
    await expect(publish(1)).rejects.toMatchObject({ code: "draft-conflict" });
    await expect(at.runtime.getVersion(local, { chartId: "c", version: 2 })).rejects.toMatchObject({
      code: "version-not-found",
    });
  });

  test("publishing a revision twice, also at the same moment, makes one version", async () => {
    await create(JSON.stringify({ lockstep: 1, initial: "a", states: { a: {} } }));
    const [one, two] = await Promise.all([publish(1), publish(1)]);
    expect([one.version, two.version]).toEqual([1, 1]);
    expect(await publish(1)).toEqual(one);
    expect((await at.runtime.getChart(local, { chartId: "c" })).versions).toHaveLength(1);
  });

  test("what can't run is not published: malformed text, a bad target, a placeholder nobody accepted", async () => {
    const codes = async (text: string, id: string) => {
      await create(text, id);
      const call = at.runtime.publishVersion(local, { chartId: id, revision: 1 });
      const error = (await call.catch((caught: unknown) => caught)) as {
        code: string;
        details: { diagnostics: { code: string }[] };
      };
      expect(error.code).toBe("chart-invalid");
      return error.details.diagnostics.map((each) => each.code);
    };
    expect(await codes("{", "c1")).toEqual(["not-json"]);
    expect(await codes('{"states":{}}', "c2")).toContain("not-lockstep");
    const chart = { lockstep: 1, initial: "a", states: { a: { on: { go: "nowhere" } } } };
    expect(await codes(JSON.stringify(chart), "c3")).toContain("bad-target");
    const placeholder = {
      lockstep: 1,
      initial: "a",
      states: { a: { on: { go: { target: "b", guard: { placeholder: "isReady" } } } }, b: { type: "final" } },
    };
    expect(await codes(JSON.stringify(placeholder), "c")).toContain("placeholder");
    expect((await at.runtime.listCharts(local, {})).items.map((each) => each.version)).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(await publish(1, { acceptPlaceholders: true })).toMatchObject({ version: 1 });
  });

  test("state names that look like numbers keep their order through publishing and the database", async () => {
    const chart = {
      lockstep: 1,
      initial: "10",
      states: {
        z: { order: 2 },
        "10": { order: 0, on: { "a.*": "#z", "*": "#a" } },
        "2": { order: 1 },
        a: { order: 3 },
      },
    };
    await create(JSON.stringify(chart));
    const { text } = await publish(1, { acceptPlaceholders: true });
    const stored = JSON.parse(
      (await at.runtime.getVersion(local, { chartId: "c", version: 1 })).text,
    ) as typeof chart;
    expect(JSON.stringify(stored)).toBe(JSON.stringify(JSON.parse(text)));
    const order = Object.entries(stored.states).sort(([, a], [, b]) => a.order - b.order);
    expect(order.map(([name]) => name)).toEqual(["10", "2", "z", "a"]);
  });
});
