import { expect, test } from "vitest";
import { parseDelay } from "./delay";

test.each([
  ["0", 0],
  ["1500", 1500],
  ["10ms", 10],
  ["30s", 30_000],
  [".5s", 500],
  ["1.5h", 5_400_000],
  ["1h30m", 5_400_000],
  ["2d", 172_800_000],
  ["5S", 5000],
  [" 1s ", 1000],
  ["PT30S", 30_000],
  ["PT1H30M", 5_400_000],
  ["P1DT0.5S", 86_400_500],
  ["P2W", 1_209_600_000],
])("%s is %d ms", (text, ms) => {
  expect(parseDelay(text)).toBe(ms);
});

test.each([
  "",
  "s",
  "-5s",
  "5 s",
  "1h 30m",
  "P1M",
  "P1Y",
  "PT",
  "P",
  "P1DT",
  "1x",
  "soon",
  "1e3",
  "99999999999999",
  "9".repeat(200),
])("%s is not a duration", (text) => {
  expect(parseDelay(text)).toBeNull();
});
