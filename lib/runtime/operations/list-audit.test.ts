/**
 * Reading the audit, on both databases.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anonymousActor } from "@/lib/access/actor";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, type TestRuntime } from "@/lib/testing/runtime";

const row = (n: number, over: object = {}) => ({
  id: `a-${n}`,
  at: 1_000 + Math.floor(n / 2),
  actor: "ann",
  action: "suspend-instance",
  target: `instance:i${n % 3}`,
  outcome: "done",
  details: JSON.stringify({ reason: `r${n}` }),
  ...over,
});

describe.each(providers)("on %s", (provider) => {
  let at: TestRuntime;
  beforeEach(async () => {
    at = await freshRuntime(provider);
    const rows = [0, 1, 2, 3, 4, 5, 6].map((n) => row(n));
    await at.store.transaction(async (tx) => {
      for (const each of rows) await tx.writeAudit(each);
      await tx.writeAudit(row(7, { actor: "bob", action: "force-release", outcome: "denied" }));
    });
  });
  afterEach(() => at.end());
  const ids = async (filter: object) => (await at.runtime.listAudit(local, filter)).items.map(({ id }) => id);

  test("it is listed newest first, in pages, without loss or repetition", async () => {
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await at.runtime.listAudit(local, { limit: 3, cursor });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(["a-7", "a-6", "a-5", "a-4", "a-3", "a-2", "a-1", "a-0"]);
    const [first] = (await at.runtime.listAudit(local, { limit: 1 })).items;
    expect(first).toEqual({
      ...{ id: "a-7", at: 1_003, actor: "bob", action: "force-release" },
      ...{ target: "instance:i1", outcome: "denied", details: { reason: "r7" } },
    });
  });

  test("every filter narrows it, all at once; a range or a text that no row can have is refused, and so is who may not read it", async () => {
    expect(await ids({ actor: "bob" })).toEqual(["a-7"]);
    expect(await ids({ outcome: "denied" })).toEqual(["a-7"]);
    expect(await ids({ action: "suspend-instance", target: "instance:i1" })).toEqual(["a-4", "a-1"]);
    expect(await ids({ from: 1_001, to: 1_002 })).toEqual(["a-3", "a-2"]);
    expect(await ids({ actor: "bob", target: "instance:i0" })).toEqual([]);
    for (const [from, to] of [
      [1_002, 1_001],
      [1_001, 1_001],
      [Number.MAX_SAFE_INTEGER, 0],
    ]) {
      await expect(ids({ from, to })).rejects.toMatchObject({
        code: "bad-request",
        message: expect.stringMatching(/^to \(.* must be later than from \(.*\): no entry/) as string,
        details: { field: "to", from, to },
      });
    }
    await expect(ids({ actor: "bob\0" })).rejects.toMatchObject({ code: "bad-request" });
    await expect(at.runtime.listAudit(anonymousActor, {})).rejects.toMatchObject({ code: "forbidden" });
  });
});
