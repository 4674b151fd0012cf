/**
 * README.md's two tables of planted faults are what the code says: names, files, levels, seeds, words.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutations } from "./mutations";
import { onlyAmongStatements, plantedFaults, plantedStatementFaults } from "./planted-faults";

/** The cells of the table with that heading. */
function tableOf(heading: string): string[][] {
  const lines = readFileSync(join(import.meta.dirname, "README.md"), "utf8").split("\n");
  const cells = lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const first = cells.findIndex(([cell]) => cell === heading) + 2;
  const rows = cells.slice(first);
  return rows.slice(
    0,
    rows.findIndex((row) => row.length === 0),
  );
}

/** How the tables say what a fault is known by. */
const words: Record<string, string> = {
  "SqliteError: UNIQUE constraint failed: event_log": "the log's primary key",
};
const wordsOf = (says: string): string => words[says] ?? says;

test("the table of faults in the store's seam is what the code plants", () => {
  const rows = (faults: typeof plantedFaults, levelOf: (name: string) => string) =>
    Object.entries(faults).map(([name, { seed, says }]) => [name, levelOf(name), `${seed}`, wordsOf(says)]);
  const only: readonly string[] = onlyAmongStatements;
  const expected = [
    ...rows(plantedFaults, () => "boundary"),
    ...rows(plantedStatementFaults, (name) => (only.includes(name) ? "statement*" : "statement")),
  ];
  expect(tableOf("in the seam").sort()).toEqual(expected.sort());
});

test("the table of faults in the source is what the code changes", () => {
  const expected = Object.entries(mutations).map(([name, { file, level, seed, says }]) => [
    name,
    file.replace(/^lib\//, "").replace(/\.ts$/, ""),
    level,
    `${seed}`,
    wordsOf(says),
  ]);
  expect(tableOf("in the source").sort()).toEqual(expected.sort());
});
