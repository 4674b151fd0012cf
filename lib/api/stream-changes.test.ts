import { expect, test } from "vitest";
import { streamChanges, type PositionedChange } from "./stream-changes";

const change = (n: number): PositionedChange => ({
  position: `1.${n}`,
  change: { kind: "instance", id: "i", seq: n, status: "running" },
});

/** What a reader who comes back from `1.0` is told first. */
async function told(changes: PositionedChange[]): Promise<string> {
  const feed = {
    changesSince: () => Promise.resolve({ changes, resync: false }),
    subscribe: () => () => undefined,
  };
  const reading = new AbortController();
  const request = new Request("http://127.0.0.1:3000/api/v1/changes", {
    headers: { "last-event-id": "1.0", host: "127.0.0.1:3000" },
    signal: reading.signal,
  });
  const response = await streamChanges(request, () => Promise.resolve(feed));
  setTimeout(() => reading.abort(), 100);
  return response.text();
}

test("a reader who comes back is told what it missed, in order", async () => {
  const ids = [...(await told([1, 2, 3].map(change))).matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
  expect(ids).toEqual(["1.1", "1.2", "1.3"]);
});

test("one who missed more than a reading gives is told to read everything anew, and nothing of it", async () => {
  const text = await told(Array.from({ length: 1_000 }, (_, n) => change(n)));
  expect(text).toContain("event: resync");
  expect(text).not.toContain("id: ");
});
