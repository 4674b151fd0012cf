/**
 * What the commands that ask a server have in common: its address, and what its refusals become.
 *
 * Holds: what the server refuses is said in its words, but fields by the names of their options, exit 1; an address that is none is
 *        wrong usage.
 */
import { LockstepError } from "@/lib/base/errors";
import { createClient, type Client } from "@/lib/client/client";
import { toldByOption, type OptionNames } from "./told-by-option";
import { exit, UsageError, type ExitCode } from "./usage";

export const serverOptions = {
  url: { type: "string", default: "http://127.0.0.1:3000" },
  json: { type: "boolean", default: false },
} as const;

/** `work` may say how it ended; else well. `names`: how refusals name what the command was told. */
export async function askServer(
  url: string,
  names: OptionNames,
  work: (client: Client) => Promise<ExitCode | undefined>,
): Promise<ExitCode> {
  if (!URL.canParse(url)) throw new UsageError(`--url takes an address, not ${url}.`);
  const client = createClient({ baseUrl: new URL(url).origin });
  try {
    return (await work(client)) ?? exit.ok;
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    process.stderr.write(`lockstep: ${toldByOption(error, names)}\n`);
    return exit.chart;
  }
}

/** Every item of a paged list, a page read when its turn comes. */
export async function* itemsOf<Item>(
  read: (place: { limit: number; cursor?: string }) => Promise<{ items: Item[]; nextCursor: string | null }>,
): AsyncGenerator<Item> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await read({ limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    yield* page.items;
    cursor = page.nextCursor;
  }
}
