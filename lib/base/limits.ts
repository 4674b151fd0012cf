/**
 * Bounds that more than one room promises.
 */

/** 256 KiB: one message must fit beside many others in a batch. The door refuses more before it parses, a verb before it stores. */
export const payloadBytesMax = 256 * 1024;
/** Of one command: each key is a row that is held to its end. */
export const lockKeysMax = 20;
/** A waiting call that was silent for this long is passed over when the lock comes free. */
export const waiterSilentMs = 10_000;
/** Of a concurrency key or a business key: an index column holds it; a longer key is a document, not a name. */
export const keyCharsMax = 500;
/** Lists show an instance's labels and look for them: each is a row. */
export const labelsMax = 32;
export const labelKeyMax = 63;
export const labelValueMax = 255;
