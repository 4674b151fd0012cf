/** All of /api/v1 but the live stream: lib/api dispatches by the contract's table. */
import type { NextRequest } from "next/server";
import { handle } from "@/lib/api/handle";
import { getRuntime } from "@/lib/compose";

export const dynamic = "force-dynamic";

const answer = (request: NextRequest) =>
  handle(request, new URL(request.url).pathname.slice("/api/v1".length), getRuntime);

export { answer as DELETE, answer as GET, answer as PATCH, answer as POST, answer as PUT };
