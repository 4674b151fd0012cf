import { expect, test } from "vitest";
import { sentWords } from "./sent-words";

test("a message that was refused is told with the refusal's code and why", () => {
  const words = sentWords("m-1", {
    messageId: "m-1",
    instanceId: "c",
    state: "refused",
    seq: null,
    outcome: null,
    reason: "stale-fence",
    status: "running",
    configuration: ["counting"],
    pending: 0,
    replayed: false,
    error: { code: "stale-fence", message: "a fence that came with it was not good" },
  });
  expect(words).toBe(
    "m-1 was refused (stale-fence): a fence that came with it was not good; c is running in counting",
  );
});
