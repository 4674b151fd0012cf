/**
 * A throw-away PostgreSQL: real server binaries from npm, its data in a temporary folder, gone after stop().
 *
 * fsync is off unless asked for: tests kill processes of ours, never the machine, and a clean database costs 30 ms less.
 */
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quickFolder } from "./quick-folder";
import { reachablePostgres } from "./reachable-postgres";

export interface PostgresServer {
  /** URL of the server's own database; create others beside it. */
  url: string;
  stop(): Promise<void>;
  /** As after a power cut: every server process is gone at once, then the server starts and recovers. */
  crash(): Promise<void>;
}

/** `durable`: as PostgreSQL comes, for measurements. */
export async function startPostgres({ durable = false } = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(durable ? tmpdir() : quickFolder(), "lockstep-postgres-"));
  const port = await freePort();
  const said: string[] = [];
  const { EmbeddedPostgres, dispose } = await reachablePostgres();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "lockstep",
    password: "lockstep",
    persistent: false,
    // PostgreSQL refuses to run as root; the package then runs it as the user `postgres`, made when there is none.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: [
      `fsync=${durable ? "on" : "off"}`,
      "max_connections=200",
      "listen_addresses=127.0.0.1",
    ].flatMap((setting) => ["-c", setting]),
    onLog: (message) => said.push(String(message)),
    onError: (message) => said.push(String(message)),
  });
  try {
    // mkdtemp makes a folder for its owner alone; the server's user has to pass through it.
    if (process.getuid?.() === 0) await chmod(folder, 0o755);
    await server.initialise();
    await server.start();
  } catch (error) {
    await dispose();
    throw new Error(`PostgreSQL did not start:\n${said.join("").slice(-2000)}`, { cause: error });
  }
  return {
    url: `postgresql://lockstep:lockstep@127.0.0.1:${port}/postgres`,
    async crash() {
      const [pid] = (await readFile(join(folder, "data/postmaster.pid"), "utf8")).split("\n");
      process.kill(Number(pid), "SIGQUIT");
      while (isRunning(Number(pid))) await new Promise((done) => setTimeout(done, 10));
      await server.start();
    },
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
      await dispose();
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => {
        if (address && typeof address === "object") resolve(address.port);
        else reject(new Error("no free port"));
      });
    });
  });
}
