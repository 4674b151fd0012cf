/**
 * One machine among those that play together: its state, its number in the log, who started it.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import type { Machine } from "@/lib/statechart/machine";
import type { Snapshot } from "@/lib/statechart/snapshot";

export interface PlayedChart {
  machine: Machine;
  name?: string;
  input?: Json;
  /** Values in place of the chart's own initial ones (SCXML <param>). */
  data?: JsonObject;
}

/** The invocation whose work this machine is. */
export interface Invoked {
  by: Player;
  id: string;
  generation: number;
}

export class Player {
  /** Null until its first step. */
  snapshot: Snapshot | null = null;
  seq = 0;
  /** Cancelled by its parent: nothing it is sent arrives. */
  cancelled = false;
  /** Running and ended children, by invocation id. */
  readonly children = new Map<string, Player>();

  constructor(
    readonly id: string,
    readonly chart: PlayedChart,
    readonly invoked: Invoked | null,
  ) {}

  /** The same, to go on apart; `twins` learns who became whom, children included. */
  copy(by: Player | null, twins: Map<Player, Player>): Player {
    const { invoked } = this;
    const twin = new Player(this.id, this.chart, invoked === null || by === null ? null : { ...invoked, by });
    twin.snapshot = this.snapshot;
    twin.seq = this.seq;
    twin.cancelled = this.cancelled;
    for (const [id, child] of this.children) twin.children.set(id, child.copy(twin, twins));
    twins.set(this, twin);
    return twin;
  }

  /** Its `_ioprocessors` location. */
  get address(): string {
    return `#_scxml_${this.id}`;
  }

  get isOver(): boolean {
    return this.cancelled || (this.snapshot !== null && this.snapshot.status !== "running");
  }
}
