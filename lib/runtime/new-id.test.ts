import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { isGone, newWorkerId } from "./new-id";

test("a worker is gone when it was a process of this machine and is no more; of other machines nobody knows", () => {
  const mine = newWorkerId();
  const id = (pid: number) => mine.replace(`-${process.pid}-`, `-${pid}-`);
  expect(isGone(mine)).toBe(false);
  expect(isGone(id(process.ppid))).toBe(false);
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  expect(isGone(id(pid))).toBe(true);
  expect(isGone(`elsewhere-${pid}-abcdef`)).toBe(false);
  expect(isGone("named-by-hand")).toBe(false);
  // An earlier process that had our number, as in a container started again.
  expect(isGone(`${mine.slice(0, -6)}000000`)).toBe(true);
});
