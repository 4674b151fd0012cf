import { expect, test } from "vitest";
import { handle, type Verbs } from "@/lib/api/handle";
import { freshRuntime, local } from "@/lib/testing/runtime";

test("a server is ready while its database answers; then it says 503 and why", async () => {
  const at = await freshRuntime("postgresql");
  const ask = () =>
    handle(
      new Request("http://127.0.0.1:3000/api/v1/ready", { headers: { host: "127.0.0.1:3000" } }),
      "/ready",
      () => Promise.resolve(at.runtime as unknown as Verbs),
    );
  try {
    const ready = await ask();
    expect([ready.status, await ready.json()]).toEqual([200, { ready: true, reason: null }]);
    await at.database.drop();
    const away = await ask();
    expect(away.status).toBe(503);
    const { ready: isReady, reason } = (await away.json()) as { ready: boolean; reason: string };
    expect(isReady).toBe(false);
    expect(reason).toMatch(/database/);
  } finally {
    await at.runtime.close();
  }
  expect(await at.runtime.getReadiness(local, {})).toMatchObject({ ready: false });
});
