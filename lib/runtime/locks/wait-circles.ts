/**
 * Waits that would never end: each waits for the one before it in the queue, the first for the lock's holder, and the holder,
 * by another wait, for the first of them. The youngest of a circle is to give up.
 *
 * Holds: every process comes to the same ones, so that no circle costs two. A state that holds a lock waits for what it, or a
 *        state within it, waits for: beside it, in another region, its instance goes on.
 */
import type { LockWait } from "@/lib/store/locks";
import type { Store } from "@/lib/store/store";
import type { Machines } from "../charts/machines";
import { taskOfSession } from "./state-session";

/** How long a circle that nobody saw when it was closed stands, at most about. */
export const circlesMs = 1_000;

/** What stands behind more than these is left to its waits' ends. */
const waitsMax = 2_000;

/** A wait without end, and the session before it, whose end would be one. */
export interface EndlessWait extends LockWait {
  ahead: string;
}

export async function findDeadlocked(store: Store, machines: Machines): Promise<EndlessWait[]> {
  const waits = await store.lockWaits(await store.now(), waitsMax);
  const loaded = new Map<LockWait, (outer: string) => boolean>();
  for (const wait of waits) {
    const { chartId, version, state } = wait;
    if (chartId === null || version === null || state === null) continue;
    const { states } = await machines.load({ chartId, version });
    const lineage = states.get(state)?.lineage ?? [];
    loaded.set(wait, (outer) => lineage.some(({ name }) => name === outer));
  }
  return deadlocked(waits, (wait, outer) => loaded.get(wait)?.(outer) ?? false);
}

/**
 * Of each circle the youngest. `waits`: by key, in the queue's order; `isWithin`: the waiting state is that state or within
 * it.
 */
export function deadlocked(
  waits: readonly LockWait[],
  isWithin: (wait: LockWait, outer: string) => boolean,
): EndlessWait[] {
  const ahead = edgesOf(waits, isWithin);
  const over = new Set<LockWait>();
  for (const wait of youngestFirst(waits)) if (comesBack(wait, ahead, over)) over.add(wait);
  return [...over].map((wait) => {
    const before = waits[waits.indexOf(wait) - 1];
    return { ...wait, ahead: before?.key === wait.key ? before.session : (wait.heldBy ?? "") };
  });
}

type Edges = ReadonlyMap<LockWait, readonly LockWait[]>;

/** The waits that a wait waits for. */
function edgesOf(waits: readonly LockWait[], isWithin: (wait: LockWait, outer: string) => boolean): Edges {
  const ofSession = groupBy(waits, ({ session }) => session);
  const ofInstance = groupBy(waits, lifeOf);
  const edges = new Map<LockWait, readonly LockWait[]>();
  waits.forEach((wait, index) => {
    const before = waits[index - 1];
    if (before?.key === wait.key) return edges.set(wait, ofSession.get(before.session) ?? []);
    const { heldBy, heldState } = wait;
    if (heldBy === null) return edges.set(wait, []);
    if (heldState === null) return edges.set(wait, ofSession.get(heldBy) ?? []);
    const inside = ofInstance.get(lifeOf({ session: heldBy, holder: wait.heldHolder ?? "" })) ?? [];
    return edges.set(
      wait,
      inside.filter((other) => isWithin(other, heldState)),
    );
  });
  return edges;
}

/** A client's session; of a state: its instance's life. */
function lifeOf({ session, holder }: Pick<LockWait, "session" | "holder">): string {
  const task = taskOfSession(session, holder);
  return task ? `${task.incarnation}:${task.instanceId}` : session;
}

function groupBy(
  waits: readonly LockWait[],
  nameOf: (wait: LockWait) => string,
): ReadonlyMap<string, readonly LockWait[]> {
  const groups = new Map<string, LockWait[]>();
  for (const wait of waits) {
    const name = nameOf(wait);
    const group = groups.get(name);
    if (group) group.push(wait);
    else groups.set(name, [wait]);
  }
  return groups;
}

const youngestFirst = (waits: readonly LockWait[]): LockWait[] =>
  [...waits].sort((a, b) => b.since - a.since || (a.key < b.key ? 1 : -1) || b.ticket - a.ticket);

/** Following who waits for whom arrives at it again. */
function comesBack(start: LockWait, ahead: Edges, over: ReadonlySet<LockWait>): boolean {
  const seen = new Set<LockWait>();
  const left = [start];
  for (let wait = left.pop(); wait; wait = left.pop()) {
    for (const next of ahead.get(wait) ?? []) {
      if (next === start) return true;
      if (seen.has(next) || over.has(next)) continue;
      seen.add(next);
      left.push(next);
    }
  }
  return false;
}
