/**
 * Bounds that more than one room promises.
 */

/** 256 KiB: one message must fit beside many others in a batch. The door refuses more before it parses, a verb before it stores. */
export const payloadBytesMax = 256 * 1024;
