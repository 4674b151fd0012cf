/**
 * Bounds that more than one room promises.
 */

/** 256 KiB: one message must fit beside many others in a batch. The door refuses more before it parses, a verb before it stores. */
export const payloadBytesMax = 256 * 1024;
/** Lists show an instance's labels and look for them: each is a row. */
export const labelsMax = 32;
export const labelKeyMax = 63;
export const labelValueMax = 255;
