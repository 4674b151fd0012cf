/**
 * A real HTTP server on this machine for one handler, as Next is one: a Request in, a Response out.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

export interface TestServer {
  baseUrl: string;
  close(): Promise<void>;
}

export async function serveHttp(
  answer: (request: Request, path: string) => Promise<Response>,
): Promise<TestServer> {
  const server = createServer((incoming, response) => {
    const gone = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    void (async () => {
      const request = await requestOf(incoming, gone.signal);
      const { pathname } = new URL(request.url);
      const answered = await answer(request, pathname.replace(/^\/api\/v1/, ""));
      response.writeHead(answered.status, Object.fromEntries(answered.headers));
      response.end(await answered.text());
    })().catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function requestOf(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const { method = "GET", url = "/", headers } = incoming;
  const body =
    method === "GET" ? null : await new Response(Readable.toWeb(incoming) as ReadableStream).text();
  return new Request(`http://${headers.host ?? "127.0.0.1"}${url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
    body,
    signal,
  });
}
