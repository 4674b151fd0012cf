/**
 * The live stream (GET /api/v1/changes, server-sent events): what moved, not what it is; readers fetch what they show.
 */
import { z } from "zod";

export const change = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("instance"), id: z.string(), seq: z.int(), status: z.string() }),
  z.object({ kind: z.literal("lock"), key: z.string(), fence: z.int() }),
  z.object({ kind: z.literal("chart"), id: z.string(), revision: z.int() }),
]);
export type Change = z.infer<typeof change>;
