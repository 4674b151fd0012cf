/**
 * The process behind `npm start`: binds the door, serves Next behind it, closes everything in order when told to stop.
 *
 * Holds: only a loopback address is bound until sign-in exists; a request whose `Host` isn't this machine is refused
 * before Next sees it, and so is a path that can't be decoded; SIGTERM ends streams, steps and connections within the grace time.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import next from "next";
import type { ErrorCode } from "./base/errors";
import { isLoopbackAddress, isLoopbackHost } from "./base/loopback";
import { runShutdown } from "./base/shutdown";
import { readConfig, type Config } from "./config";
import { logError } from "./observe/log";

/** 10 s: longer than the longest step and short of what process managers wait before SIGKILL. */
const graceMs = 10_000;

await serve().catch((error: unknown) => {
  process.stderr.write(`Lockstep did not start. ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});

async function serve(): Promise<void> {
  const config = readConfig();
  refuseOpenDoor(config);
  const server = createServer();
  const app = next({
    dev: false,
    dir: process.cwd(),
    hostname: config.host,
    port: config.port,
    httpServer: server,
  });
  await app.prepare();
  const answer = app.getRequestHandler();
  server.on("request", (request, response) => {
    if (!isLoopbackHost(request.headers.host ?? "")) {
      return refuse(response, 403, "foreign-origin", "This console answers to 127.0.0.1 and localhost only.");
    }
    if (!isPercentEncoded(request.url ?? "/")) {
      return refuse(response, 400, "bad-request", "The path isn't percent-encoded UTF-8.");
    }
    answer(request, response).catch((error: unknown) =>
      logError("a request failed", error, { url: request.url }),
    );
  });
  await listen(server, config);
  process.stdout.write(
    `Lockstep is at http://${shownHost(config.host)}:${config.port} on ${config.databaseName}\n`,
  );
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop(server));
}

function refuseOpenDoor(config: Config): void {
  if (isLoopbackAddress(config.host)) return;
  throw new Error(
    `HOST=${config.host} would let other machines in, and nobody signs in yet. ` +
      "Leave HOST unset (127.0.0.1) and reach it through an SSH tunnel or a proxy that signs people in.",
  );
}

/** In the API's one error shape, also for pages: there is no page to show yet. */
function refuse(response: ServerResponse, status: number, code: ErrorCode, message: string): void {
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8", Connection: "close" });
  response.end(JSON.stringify({ error: { code, message, retry: "never", details: {} } }));
}

/** Next answers 500 to a path it can't decode. */
function isPercentEncoded(url: string): boolean {
  try {
    decodeURIComponent(url.split("?")[0] ?? "");
    return true;
  } catch {
    return false;
  }
}

function listen(server: Server, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = `Port ${config.port} is taken. Stop what uses it, or choose another: PORT=${config.port + 1} npm start`;
      reject(error.code === "EADDRINUSE" ? new Error(taken) : error);
    });
    server.listen(config.port, config.host.replace(/^\[|\]$/g, ""), resolve);
  });
}

function shownHost(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

async function stop(server: Server): Promise<void> {
  setTimeout(() => process.exit(1), graceMs).unref();
  const closed = new Promise((resolve) => server.close(resolve));
  await runShutdown((error) => logError("stopping", error));
  server.closeIdleConnections();
  await closed;
  process.exit(0);
}
