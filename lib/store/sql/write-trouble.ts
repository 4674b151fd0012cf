/**
 * Whether the database takes writes, as its own writes tell: no health check has to write while others do.
 *
 * Holds: a write that was refused because nothing may be written is told until one succeeds; one that was refused for want
 *        of room for `rememberedMs`, also when a smaller one succeeds beside it. Where none has succeeded lately, one is begun
 *        to find out.
 */
import { isPassing } from "@/lib/base/errors";

/** Workers write every 10 s: what lasts is refused again before this is over. */
const rememberedMs = 15_000;
const provenForMs = 10_000;

interface Refused {
  message: string;
  at: number;
}

export class WriteTrouble {
  private noRoom: Refused | null = null;
  private unavailable: Refused | null = null;
  private provenAt = -Infinity;

  /** Runs a write and notes how it fared. */
  async watch<T>(write: () => Promise<T>): Promise<T> {
    try {
      const result = await write();
      this.provenAt = performance.now();
      this.unavailable = null;
      return result;
    } catch (error) {
      if (isPassing(error)) {
        const refused = { message: error.message, at: performance.now() };
        if (error.code === "database-full") this.noRoom = refused;
        if (error.code === "database-unavailable") this.unavailable = refused;
      }
      throw error;
    }
  }

  /** Null, or what was said to the write that was refused. `tryOne`: a write, watched as every other. */
  async tell(tryOne: () => Promise<void>): Promise<string | null> {
    if (this.unavailable || performance.now() - this.provenAt > provenForMs) {
      try {
        await tryOne();
      } catch (error) {
        if (isPassing(error)) return error.message;
        throw error;
      }
    }
    return this.refusedForRoom();
  }

  /** Null, or what was said to a write that was lately refused for want of room. */
  refusedForRoom(): string | null {
    return this.noRoom && performance.now() - this.noRoom.at < rememberedMs ? this.noRoom.message : null;
  }
}
