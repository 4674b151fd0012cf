import { expect, test } from "vitest";
import { layout } from "./charts";

test("a layout's numbers are those of a drawing: beyond, looking for a free place would not end", () => {
  const withWidth = (w: number): unknown => ({
    direction: "right",
    states: { a: { x: 0, y: 0, w, h: 1 } },
    routes: {},
  });
  expect(layout.safeParse(withWidth(900_000)).success).toBe(true);
  expect(layout.safeParse(withWidth(1e19)).success).toBe(false);
  expect(layout.safeParse(withWidth(-1)).success).toBe(false);
});
