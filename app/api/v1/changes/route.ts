/** The live stream. */
import { streamChanges } from "@/lib/api/stream-changes";
import { getRuntime } from "@/lib/compose";

export const dynamic = "force-dynamic";

export const GET = (request: Request) => streamChanges(request, getRuntime);
