/**
 * Unit, property and store tests: everything named *.test.ts beside its code. Browser journeys live in e2e (Playwright).
 *
 * Most files share the modules of their process: loading them anew, cold, is a fifth of what the tests cost. Apart are those
 * that change the process they run in: its clock, its modules, its output.
 */
import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const tests = "{lib,components,docs,scripts,prisma}/**/*.test.{ts,tsx}";
const apart = [
  "lib/testing/**/*.test.ts",
  "lib/cli/*.test.ts",
  "lib/base/errors.test.ts",
  "lib/invocations/http-task.test.ts",
  "lib/runtime/locks/lock-cases.test.ts",
];

/** None of them may be alone at the end; a clean clone remembers no durations. */
const longest = [
  "sim/planted-faults",
  "sim/boundary",
  "sim/statements",
  "sim/mutations",
  "failure/racing",
  "failure/saga",
  "failure/claims",
  "stepping/kill",
  "schedules/schedule-kill",
  "locks/state-locks",
  "tasks/task-kill",
  "batches/batches",
  "tasks/tasks",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification) => {
      const place = longest.findIndex((name) => moduleId.includes(name));
      return (project.config.isolate ? 0 : 100) + (place < 0 ? longest.length : place);
    };
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

const resolve = { alias: { "@": fileURLToPath(new URL(".", import.meta.url)) } };
const project = (
  name: string,
  test: NonNullable<TestProjectInlineConfiguration["test"]>,
): TestProjectInlineConfiguration => ({
  resolve,
  test: { name, testTimeout: 30_000, hookTimeout: 60_000, ...test },
});

export default defineConfig({
  resolve,
  test: {
    globalSetup: ["lib/testing/database-broker.ts"],
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      project("apart", { include: apart }),
      project("together", { include: [tests], exclude: apart, isolate: false }),
    ],
  },
});
