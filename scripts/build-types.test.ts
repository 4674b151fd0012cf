/**
 * What other programs import (`lockstep/client`, `lockstep/embedded`), tried as one of them: a folder outside the repository
 * that holds the package as it is published, with its dependencies and none of its dev dependencies.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const outside = mkdtempSync(join(tmpdir(), "lockstep-consumer-"));
afterAll(() => rmSync(outside, { recursive: true }));

beforeAll(() => {
  // Both are skipped when dist is of these sources.
  for (const script of ["build-bin", "build-types"]) {
    execFileSync(process.execPath, [`scripts/${script}.mjs`], { cwd: root });
  }
  const modules = join(outside, "node_modules");
  const published = join(modules, "lockstep");
  cpSync(join(root, "dist"), join(published, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(published, "package.json"));
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  writeFileSync(join(outside, "package.json"), JSON.stringify({ type: "module" }));
});

const program = `
import { createClient, LockstepError, runTaskWorker, TaskFailure, withSession, type ClaimedTask, type ResponseOf } from "lockstep/client";
import { openEmbedded, type Embedded } from "lockstep/embedded";

const client = createClient({ baseUrl: "http://127.0.0.1:3000" });
export async function useClient(): Promise<number> {
  const { seq } = await client.sendEvent({ instanceId: "o1", type: "pay", data: { amount: 5 } }, { idempotencyKey: "k" });
  const { items } = await client.listInstances({ status: "failed" });
  const first: ResponseOf<"listInstances">["items"][number] | undefined = items[0];
  // @ts-expect-error a client without the event's type does not compile
  await client.sendEvent({ instanceId: "o1" });
  // @ts-expect-error nor does an answer that is not in the contract
  first?.colour;
  return seq ?? first?.seq ?? 0;
}
export const work = () =>
  runTaskWorker({
    baseUrl: "http://127.0.0.1:3000",
    tasks: {
      charge: async (input, { signal, attempt }) => {
        if (signal.aborted) throw new TaskFailure("late", "too late", { retry: false });
        return { input, attempt };
      },
    },
    report: (event) => {
      const task: ClaimedTask | null = "task" in event ? event.task : null;
      void task?.token;
    },
  });
export const inTurn = () => withSession(client, "o1", { ttlMs: 5_000 }, async ({ send, seq }) => (await send("pay")).seq ?? seq);

export async function useEmbedded(): Promise<string[]> {
  const lockstep: Embedded = await openEmbedded({ startAt: 1, tasks: { charge: () => "receipt" } });
  await lockstep.publish("order", { lockstep: 1, initial: "open", states: { open: { after: { "1h": "over" } }, over: { type: "final" } } });
  await lockstep.startInstance({ chartId: "order", id: "o1" });
  await lockstep.advance(3_600_000);
  const { configuration, status } = await lockstep.getInstance({ instanceId: "o1" });
  const refused: unknown = await lockstep.getInstance({ instanceId: "none" }).catch((error: unknown) => error);
  // @ts-expect-error a verb that is not there does not compile
  void lockstep.explode;
  await lockstep.close();
  return [...configuration, status, refused instanceof LockstepError ? refused.code : "other"];
}
`;

test("a program outside the repository compiles against the published types, strictly, with no dev dependency", () => {
  writeFileSync(join(outside, "program.ts"), program);
  const options = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    module: "nodenext",
    target: "es2022",
    lib: ["es2023", "dom"],
    types: [],
    // A name in our declarations that leads nowhere is an error.
    skipLibCheck: false,
  };
  writeFileSync(
    join(outside, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, files: ["program.ts"] }),
  );
  const done = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", outside], {
    encoding: "utf8",
  });
  expect(done.stdout).toBe("");
  expect(done.status).toBe(0);
}, 60_000);

test("and runs in plain Node", () => {
  writeFileSync(
    join(outside, "run.mjs"),
    `import { createClient, LockstepError, runTaskWorker, withSession } from "lockstep/client";
     import { openEmbedded } from "lockstep/embedded";
     const refused = await createClient({ baseUrl: "http://127.0.0.1:9" }).listCharts().catch((error) => error);
     const lockstep = await openEmbedded({ startAt: 1 });
     await lockstep.publish("order", { lockstep: 1, initial: "open", states: { open: {} } });
     await lockstep.startInstance({ chartId: "order", id: "o1" });
     const { configuration } = await lockstep.getInstance({ instanceId: "o1" });
     await lockstep.close();
     console.log(JSON.stringify([refused instanceof LockstepError, typeof runTaskWorker, typeof withSession, configuration]));`,
  );
  const done = spawnSync(process.execPath, ["run.mjs"], { cwd: outside, encoding: "utf8" });
  expect(done.stderr).toBe("");
  expect(JSON.parse(done.stdout)).toEqual([true, "function", "function", ["open"]]);
}, 60_000);
