import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { firstClick, useCall, type Call } from "./use-call";

/** The call as a page that was drawn once has it: nothing draws it anew. */
function drawn(mutationFn: (asked: string) => Promise<string>, onSuccess: (answer: string) => void) {
  const calls: Call<string, string>[] = [];
  const Page = () => {
    calls.push(useCall({ mutationFn, onSuccess }));
    return null;
  };
  renderToString(createElement(QueryClientProvider, { client: new QueryClient() }, createElement(Page)));
  const [call] = calls;
  if (!call) throw new Error("the page was not drawn");
  return call;
}

test("two presses before the page is drawn anew are one call, and its end is told once", async () => {
  const answers: ((answer: string) => void)[] = [];
  const told = vi.fn();
  const make = vi.fn(() => new Promise<string>((answer) => answers.push(answer)));
  const call = drawn(make, told);
  call.mutate("a");
  call.mutate("a");
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  answers[0]?.("done");
  await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1));
  expect(make).toHaveBeenCalledTimes(1);
});

test("after an answer, or a refusal, it can be pressed again", async () => {
  const told = vi.fn();
  let isRefused = true;
  const call = drawn(() => (isRefused ? Promise.reject(new Error("no")) : Promise.resolve("yes")), told);
  call.mutate("a");
  isRefused = false;
  await vi.waitFor(() => {
    call.mutate("a");
    expect(told).toHaveBeenCalled();
  });
});

test("a double click is one press; the keyboard's presses are each one", () => {
  const act = vi.fn();
  for (const detail of [1, 2, 3]) firstClick(act)({ detail });
  expect(act).toHaveBeenCalledTimes(1);
  for (const detail of [0, 0]) firstClick(act)({ detail });
  expect(act).toHaveBeenCalledTimes(3);
});

test("every component makes its calls so", () => {
  const components = join(import.meta.dirname, "..");
  const files = readdirSync(components, { recursive: true, encoding: "utf8" });
  const others = files.filter(
    (file) =>
      /(?<!\.test)\.tsx?$/.test(file) &&
      !file.endsWith("use-call.ts") &&
      readFileSync(join(components, file), "utf8").includes("useMutation"),
  );
  expect(others).toEqual([]);
});
