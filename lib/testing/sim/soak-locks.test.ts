import { expect, test } from "vitest";
import { overlaps, type Hold } from "./soak-locks";

const hold = (session: string, fence: number, from: number, until: number, key = "z"): Hold => ({
  key,
  session,
  fence,
  from,
  until,
});

test("two who had a lock at once, and a fence that did not rise, are found; who took turns is not", () => {
  const turns = [
    hold("a", 1, 0, 10),
    hold("b", 2, 10, 20),
    hold("x", 1, 5, 15, "other"),
    hold("a", 3, 25, 30),
  ];
  expect(overlaps(turns)).toEqual([]);
  expect(overlaps([hold("a", 1, 0, 10), hold("b", 2, 9, 20)])).toEqual([
    "I3: b had z (fence 2) 1 ms before a (fence 1) had ended",
  ]);
  expect(overlaps([hold("a", 2, 0, 10), hold("b", 2, 10, 20)])).toEqual([
    "I7: z was given with fence 2 after 2",
  ]);
});
