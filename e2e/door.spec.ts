/**
 * What the door refuses before anything else looks at a request: over real HTTP, past the browser's own rules.
 */
import { request as httpRequest } from "node:http";
import { expect, test } from "@playwright/test";

function status(
  base: string | undefined,
  path: string,
  headers: Record<string, string> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base ?? "");
    const asked = httpRequest({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on("error", reject);
    asked.end();
  });
}

test("a foreign Host is refused for pages and the API, a foreign Origin for the API", async ({ baseURL }) => {
  expect(await status(baseURL, "/")).toBe(200);
  expect(await status(baseURL, "/", { host: "evil.example" })).toBe(403);
  expect(await status(baseURL, "/api/v1/locks", { host: "evil.example" })).toBe(403);
  expect(await status(baseURL, "/api/v1/locks", { origin: "http://evil.example" })).toBe(403);
});

test("a path that can't be decoded is 400, not a failure of ours", async ({ baseURL }) => {
  expect(await status(baseURL, "/api/v1/instances/%E0%A4%A")).toBe(400);
  expect(await status(baseURL, "/instances/%E0%A4%A")).toBe(400);
});

test("every page carries a policy that lets no foreign script run", async ({ request }) => {
  const policy = (await request.get("/charts")).headers()["content-security-policy"] ?? "";
  expect(policy).toMatch(/script-src 'self' 'nonce-[^']+' 'strict-dynamic';/);
  expect(policy).toContain("frame-ancestors 'none'");
});
