import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { conformanceReport, playCase, readCases } from "./scxml-conformance";

const root = join(import.meta.dirname, "../..");
const cases = readCases();
const played = cases.filter(({ excluded }) => excluded === null);

describe("public SCXML cases reach the expected configuration after every event", () => {
  test.each(played)("$name", (one) => {
    expect(playCase(one)).toBeNull();
  });
});

test("all cases of the framework are looked at, and more than half can be played", () => {
  expect(cases.length).toBe(316);
  expect(played.length).toBeGreaterThan(cases.length / 2);
});

test("docs/conformance.md names each excluded case with what excludes it (else: node scripts/scxml-conformance.mjs)", () => {
  expect(readFileSync(join(root, "docs/conformance.md"), "utf8")).toBe(conformanceReport(cases));
});
