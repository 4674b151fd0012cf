/**
 * What `npm test` does beside the unit tests, in the time that they wait for: the checks, the console's build, a browser. At
 * the lowest priority, so that no test is slower for it. Ends with 1 when a check failed, with 2 when there is nothing to
 * run the journeys with.
 */
import { spawnSync } from "node:child_process";
import { constants, setPriority } from "node:os";
import { browser, buildApp, root, say } from "./steps.mjs";

setPriority(constants.priority.PRIORITY_LOW);
let code = 2;
// A step that fails ends the process.
process.once("exit", () => (process.exitCode = code));

function timed(name, work) {
  const began = Date.now();
  const result = work();
  say(`${name}: ${Math.round((Date.now() - began) / 1000)} s`);
  return result;
}

const checked = timed(
  "check",
  () =>
    spawnSync(process.execPath, ["scripts/check.mjs"], { cwd: root, stdio: ["ignore", "inherit", "inherit"] })
      .status,
);
timed("browser", browser);
timed("build", buildApp);
code = checked === 0 ? 0 : 1;
