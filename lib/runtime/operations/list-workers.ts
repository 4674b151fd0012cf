/** The processes that work, by id. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { NoArgs } from "../call";
import type { BreakerView } from "../tasks/invocation";
import type { RuntimeContext } from "../runtime-context";
import { isLive, type WorkerKind } from "./worker-registry";

export interface WorkerView {
  id: string;
  kind: WorkerKind;
  /** `silent`: not heard of lately: stopped, cut off or gone. */
  status: "working" | "draining" | "silent";
  types: string[];
  slots: number;
  running: number;
  note: string | null;
  /** Those that are not closed. */
  breakers: BreakerView[];
  /** Whose instances it steps, as `0-31`; null: all. */
  partitions: string | null;
  /** An operator wants it to take no more. */
  drainAsked: boolean;
  startedAt: number;
  seenAt: number;
}

const workersMax = 1_000;

export async function listWorkers(
  { store }: RuntimeContext,
  actor: Actor,
  _args: NoArgs,
): Promise<{ items: WorkerView[]; now: number }> {
  requirePermission(actor, "system:read");
  const now = await store.now();
  const rows = await store.listWorkers(workersMax);
  const notes = new Map((await store.listWorkerNotes(workersMax)).map((note) => [note.id, note]));
  return {
    now,
    items: rows.map(({ id, kind, types, slots, running, draining, note, startedAt, seenAt, lostAt }) => ({
      id,
      kind: kind as WorkerKind,
      status: !isLive({ seenAt, lostAt }, now) ? "silent" : draining === 1 ? "draining" : "working",
      types: JSON.parse(types) as string[],
      slots,
      running,
      note,
      breakers: JSON.parse(notes.get(id)?.breakers ?? "[]") as BreakerView[],
      partitions: notes.get(id)?.partitions ?? null,
      drainAsked: notes.get(id)?.drainAsked === 1,
      startedAt,
      seenAt,
    })),
  };
}
