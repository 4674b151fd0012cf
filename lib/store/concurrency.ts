/**
 * Concurrency keys of instances: of a chart's instances with one key, one is under way at a time; the others stand in line.
 *
 * Holds: who has a key and who waits for it change only while the key's row is held.
 */
import type { KeyRow } from "./tasks";

export const chartKeyScope = (chartId: string): string => `chart:${chartId}`;

export type KeyName = Pick<KeyRow, "scope" | "key">;

export interface ConcurrencyReads {
  /** The instance that has waited longest for that key. */
  firstInLine(key: KeyName): Promise<string | null>;
}

export interface ConcurrencyTransaction {
  /**
   * True: the instance has the key; false: it stands in its line from `since` on, with what it does `then` (JSON). Its row is
   * held, or it is new.
   */
  takeKey(key: KeyName, instanceId: string, since: number, then: string): Promise<boolean>;
  /** A key that came free goes to that instance: its `then`. Null: the key has been given on, or another has waited longer. */
  passKey(key: KeyName, instanceId: string, now: number): Promise<string | null>;
  /** A free key that nobody waits for is forgotten. */
  dropKey(key: KeyName): Promise<void>;
}
