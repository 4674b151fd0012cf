/**
 * A call as a line for the shell: what every button of the console offers as "Copy as curl".
 *
 * Holds: pasted into a POSIX shell it makes the very request the client makes; no argument can end its quotes.
 */
import { requestOf, type ArgsOf } from "./client";
import type { EndpointName } from "@/lib/contract/endpoints";

export function curlOf<N extends EndpointName>(
  name: N,
  args: ArgsOf<N>,
  { baseUrl, idempotencyKey }: { baseUrl: string; idempotencyKey?: string },
): string {
  const { method, path, headers, body } = requestOf(name, args as object, idempotencyKey);
  const parts = ["curl", "-sS"];
  if (method !== "GET") parts.push("-X", method);
  parts.push(quote(baseUrl + path));
  for (const [header, value] of Object.entries(headers)) {
    if (header !== "Accept") parts.push("-H", quote(`${header}: ${value}`));
  }
  if (body !== null) parts.push("--data-raw", quote(body));
  return parts.join(" ");
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
