/**
 * A slice of `npm run fuzz` (lib/testing/fuzz): hostile inputs are answered, refused with a reason, never worse.
 */
import { expect, test } from "vitest";
import { fuzzInput, fuzzKinds } from "./fuzz-input";
import { runInputs, type Finding } from "./run-inputs";

const count = 2_000;

test(`${count} hostile inputs: no crash, no second lost, no prototype touched`, () => {
  const findings: Finding[] = [];
  runInputs(1, count + 1, { onFinding: (finding) => findings.push(finding) });
  expect(findings).toEqual([]);
}, 120_000);

test("every kind of input is among them, and seeds give the same input again", () => {
  const inputs = Array.from({ length: count }, (_, index) => fuzzInput(index + 1));
  expect(new Set(inputs.map(({ kind }) => kind)).size).toBe(fuzzKinds.length);
  expect(fuzzInput(77)).toEqual(inputs[76]);
});
