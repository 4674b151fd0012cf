/**
 * The runtime's bounds in one place, each with what goes wrong without it.
 */
/** A batch must not starve the others: after this much of one instance it goes to the back. */
export const messagesPerTurnMax = 100;
export const turnBudgetMs = 10;
/** A batch holds its rows (SQLite: the one write lock) no longer than about this: turns not begun by then are left. */
export const batchBudgetMs = 10;
/** Rewinding replays from the snapshot before: at most this many entries or bytes of log. */
export const snapshotEveryEntries = 100;
export const snapshotEveryBytes = 256 * 1024;
/** Which rules of the engine new entries are made by; replay uses the entry's own number. */
export const engineSemantics = 1;
/** A synchronous send answers 202 after this long. */
export const sendWaitMs = 5_000;
/** Every hint may be lost: loops look for work at least this often (I8: within 1 s). */
export const pollMs = 250;
/** A call that needs one row alone waits for the calls before it no longer than the database does for other processes. */
export const busyWaitMs = 5_000;
/** A step's time and its commit may lie so far apart in the optimistic form, as they do in a batch. */
export const stepLagMaxMs = 100;
/** Instances stepped in one transaction. */
export const batchMax = 64;
export const lockTtlMs = 30_000;
export const sessionTtlMs = 10_000;
/** Everybody else waits meanwhile: longer work is a lock's. */
export const sessionHoldMaxMs = 60_000;
export const waiterBeatMs = 2_000;
/** Of a claimed task; workers renew at a third. A stalled one must miss two renewals before another gets it. */
export const taskLeaseMs = 60_000;
export const taskAttemptsMax = 5;
export const taskDelayMs = 1_000;
export const taskDelayMaxMs = 300_000;
/** Kept with every heartbeat and given to the next attempt. */
export const progressBytesMax = 64 * 1024;
export const claimMax = 100;
export const claimTypesMax = 50;
/** A waiting claim answers before proxies cut it off. */
export const claimWaitMaxMs = 30_000;
/** Tasks that one server carries out at once by itself. */
export const ownSlots = 4;
/** How long a state waits for its locks when it doesn't say. */
export const lockWaitMs = 30_000;
/** Children of one `each`, and how many of them run at once: by default, and at most. */
export const childrenMax = 100_000;
export const childCap = 10;
export const childCapMax = 10_000;
/** Children begun in one transaction: on SQLite it has the one write lock meanwhile. */
export const childrenBegunMax = 25;
/** How often a worker says that it is there, after which silence its id is free, and when it is forgotten. */
export const workerBeatMs = 10_000;
export const workerSilentMs = 35_000;
export const workerForgottenMs = 24 * 3_600_000;
/** So long after a worker was lost, batches are noted before they run; this often must one be lost at the same item. */
export const carefulMs = 10 * 60_000;
export const deathsMax = 3;
/** Missed ticks of a schedule that are made up when it doesn't say. */
export const misfireMaxDefault = 10;
