import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

/** Who may do everything is kept from nothing: the file is then another's. */
const nobody = 65_534;

test("a database file that takes no writes is told by health and readiness, one that can't be opened by the start", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lockstep-read-only-"));
  const code = join(process.cwd(), ".cache", `health-${process.pid}.mjs`);
  try {
    await build({
      stdin: {
        contents: `
          import { localActor } from "@/lib/access/actor";
          import { createRuntime } from "@/lib/runtime/runtime";
          import { openSqlStore } from "@/lib/store/sql/open-sql-store";
          const [file, uid] = process.argv.slice(2);
          // All code is loaded before: it may lie where nobody may read.
          await (await openSqlStore({ url: "file::memory:", connections: 1 })).close();
          if (uid !== "") {
            process.setgid(Number(uid));
            process.setuid(Number(uid));
          }
          try {
            const store = await openSqlStore({ url: "file:" + file, connections: 1 });
            const runtime = createRuntime({ store, report: () => undefined });
            const health = await runtime.getHealth(localActor, {});
            const readiness = await runtime.getReadiness(localActor, {});
            console.log(JSON.stringify({ health, readiness }));
            await runtime.close();
          } catch (error) {
            console.log(JSON.stringify({ code: error.code, message: error.message }));
          }`,
        resolveDir: process.cwd(),
      },
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      alias: { "@": process.cwd() },
      packages: "external",
      outfile: code,
    });
    const isRoot = process.getuid?.() === 0;
    const run = (file: string): unknown =>
      JSON.parse(
        spawnSync(process.execPath, [code, file, isRoot ? String(nobody) : ""], { encoding: "utf8" }).stdout,
      );
    if (isRoot) chownSync(folder, nobody, nobody);
    const file = join(folder, "lockstep.db");
    expect(run(file)).toMatchObject({ health: { status: "ok", trouble: null }, readiness: { ready: true } });
    chmodSync(file, 0o444);
    expect(run(file)).toMatchObject({
      health: { status: "degraded", trouble: expect.stringContaining("takes no writes") as string },
      readiness: { ready: false, reason: expect.stringContaining("takes no writes") as string },
    });
    chmodSync(folder, 0o555);
    for (const [at, why] of [
      [join(folder, "other.db"), "unable to open database file"],
      [join(folder, "sub", "lockstep.db"), "EACCES"],
      [join(file, "lockstep.db"), "EEXIST"],
    ] as const) {
      expect(run(at)).toEqual({
        code: "database-unavailable",
        message: expect.stringMatching(
          `^The database file ${at} can't be opened: .*${why}.*It and its folder must be this user's to write; DATABASE_URL names another file\\.$`,
        ) as string,
      });
    }
  } finally {
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true });
    rmSync(code, { force: true });
  }
}, 30_000);
