// What a read or a write that never waits says instead of a count of bytes, in clear and through TLS alike.

/** The peer sends nothing more. */
export const ENDED = 0;
/** Nothing can be done before the socket is readable. */
export const WANT_READ = -1;
/** Nothing can be done before the socket is writable. */
export const WANT_WRITE = -2;
/** The connection is of no use any more. */
export const FAILED = -3;
