"use client";
/**
 * The browser's client: one for the tab, same origin.
 */
import { createClient, type Client } from "@/lib/client/client";

let client: Client | undefined;

export function useClient(): Client {
  client ??= createClient({ baseUrl: "", fetch: (input, init) => window.fetch(input, init) });
  return client;
}
