/**
 * The live stream: server-sent events of what changed, resumable by position.
 *
 * Holds: every open stream ends when the process is told to stop (an open one would block it); a slow reader is cut off
 * rather than buffered without bound, and resumes by `Last-Event-ID`; one that is too far behind for that is told `resync`.
 */
import type { Change } from "@/lib/contract/changes";
import { onShutdown } from "@/lib/base/shutdown";
import { requirePermission } from "@/lib/access/require-permission";
import { errorResponse } from "./error-response";
import { guardRequest } from "./guard-request";
import { actorOf } from "./handle";

export interface PositionedChange {
  position: string;
  change: Change;
}
export interface ChangeFeed {
  changesSince(position: string, limit: number): Promise<{ changes: PositionedChange[]; resync: boolean }>;
  subscribe(listener: (changes: PositionedChange[]) => void): () => void;
}

/** 15 s: proxies cut idle connections at 30 s and more. */
const heartbeatMs = 15_000;
/** A reader this many events behind is cut off; it comes back by position. */
const queuedMax = 1_000;

export async function streamChanges(request: Request, feedOf: () => Promise<ChangeFeed>): Promise<Response> {
  try {
    guardRequest(request);
    requirePermission(actorOf(request), "instances:read");
    const feed = await feedOf();
    return new Response(open(feed, request.headers.get("last-event-id"), request.signal), {
      headers: {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Cache-Control": "no-store, no-transform",
        "X-Accel-Buffering": "no",
      },
    });
  } catch (error) {
    return errorResponse(error, "GET /api/v1/changes");
  }
}

function open(feed: ChangeFeed, since: string | null, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let close = () => {};
  return new ReadableStream<Uint8Array>(
    {
      async start(controller) {
        let closed = false;
        const write = (text: string) => {
          if (closed) return;
          if ((controller.desiredSize ?? 0) < -queuedMax) close();
          else controller.enqueue(encoder.encode(text));
        };
        const send = (changes: readonly PositionedChange[]) => {
          for (const { position, change } of changes) {
            write(`id: ${position}\nevent: change\ndata: ${JSON.stringify(change)}\n\n`);
          }
        };
        const heartbeat = setInterval(() => write(": alive\n\n"), heartbeatMs);
        const unsubscribe = feed.subscribe(send);
        const removeHook = onShutdown(() => close());
        close = () => {
          if (closed) return;
          closed = true;
          clearInterval(heartbeat);
          unsubscribe();
          removeHook();
          signal.removeEventListener("abort", close);
          try {
            controller.close();
          } catch {
            // The reader has gone already.
          }
        };
        signal.addEventListener("abort", close);
        if (signal.aborted) return close();
        write("retry: 1000\n\n");
        if (since !== null) {
          const { changes, resync } = await feed.changesSince(since, queuedMax);
          // More than one reading gives lie between: a reader who goes on from the newest would never hear of them.
          if (resync || changes.length === queuedMax) write("event: resync\ndata: {}\n\n");
          else send(changes);
        }
      },
      cancel() {
        close();
      },
    },
    new CountQueuingStrategy({ highWaterMark: 16 }),
  );
}
