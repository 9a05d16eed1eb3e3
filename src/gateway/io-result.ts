// The results of a non-blocking read or write besides a count of bytes, in clear and through TLS alike.

/** The peer sends nothing more. */
export const ENDED = 0;
/** Nothing can be done before the socket is readable. */
export const WANT_READ = -1;
/** Nothing can be done before the socket is writable. */
export const WANT_WRITE = -2;
/** The connection is broken. */
export const FAILED = -3;
