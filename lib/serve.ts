/**
 * The process behind `npm start`: binds the door, serves Next behind it, closes everything in order when told to stop.
 *
 * Holds: only a loopback address is bound until sign-in exists; a request whose `Host` isn't this machine is refused
 * before Next sees it; SIGTERM ends streams, steps and connections within the grace time.
 */
import { createServer, type Server } from "node:http";
import next from "next";
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
    if (isLoopbackHost(request.headers.host ?? "")) {
      answer(request, response).catch((error: unknown) =>
        logError("a request failed", error, { url: request.url }),
      );
      return;
    }
    response.writeHead(403, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" });
    response.end("This console answers to 127.0.0.1 and localhost only.\n");
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
