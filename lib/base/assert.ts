/**
 * The third kind of wrong: we are. An assertion that fails is a defect of Lockstep, never of a chart or of the world.
 */
export class AssertionError extends Error {
  override name = "AssertionError";
}

/** Throws AssertionError when `condition` is false. `message` says what should have held. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** The value, or AssertionError when it is null or undefined. For look-ups that must hit. */
export function must<T>(value: T | null | undefined, message: string): T {
  assert(value !== null && value !== undefined, message);
  return value;
}
