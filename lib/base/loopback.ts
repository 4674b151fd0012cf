/**
 * What counts as this very machine: for the address to bind to, and for the `Host` a request names.
 */

/** An address that only this machine can reach. */
export const isLoopbackAddress = (host: string): boolean =>
  /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|::1|\[::1\])$/i.test(host);

/** A `Host` header that names this machine; a name that merely resolves to it is not one (DNS rebinding). */
export const isLoopbackHost = (header: string): boolean =>
  /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i.test(header);
