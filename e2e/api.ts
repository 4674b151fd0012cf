/**
 * The second client of the journeys: plain HTTP, as a program beside the browser would speak it.
 */
import { expect, type APIRequestContext } from "@playwright/test";

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

export function apiOf(request: APIRequestContext) {
  const call = async (method: string, path: string, data?: unknown): Promise<Answer> => {
    const response = await request.fetch(`/api/v1${path}`, {
      method,
      ...(data === undefined ? {} : { data, headers: { "Content-Type": "application/json" } }),
    });
    return { status: response.status(), body: (await response.json()) as Record<string, unknown> };
  };
  return {
    call,
    get: (path: string) => call("GET", path),
    post: (path: string, data: unknown) => call("POST", path, data),
    /** Polls `path` until `holds` says yes. */
    until: async (path: string, holds: (body: Record<string, unknown>) => boolean) => {
      await expect.poll(async () => holds((await call("GET", path)).body), { timeout: 10_000 }).toBe(true);
    },
  };
}
