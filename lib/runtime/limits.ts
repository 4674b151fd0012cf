/**
 * The runtime's bounds in one place, each with what goes wrong without it.
 */
/** A batch must not starve the others: after this much of one instance it goes to the back. */
export const messagesPerTurnMax = 100;
export const turnBudgetMs = 10;
/** Rewinding replays from the snapshot before: at most this many entries or bytes of log. */
export const snapshotEveryEntries = 100;
export const snapshotEveryBytes = 256 * 1024;
/** Which rules of the engine new entries are made by; replay uses the entry's own number. */
export const engineSemantics = 1;
/** A synchronous send answers 202 after this long. */
export const sendWaitMs = 5_000;
/** Every hint may be lost: loops look for work at least this often (I8: within 1 s). */
export const pollMs = 250;
/** Instances stepped in one transaction. */
export const batchMax = 64;
export const lockTtlMs = 30_000;
/** A waiting call that was silent for this long is passed over when the lock comes free. */
export const waiterSilentMs = 10_000;
export const waiterBeatMs = 2_000;
