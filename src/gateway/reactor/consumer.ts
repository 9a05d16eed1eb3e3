// The taker of all bytes that arrive at a socket, such as a splice.

/** Takes the arriving bytes in place of reads. */
export interface Consumer {
  /** `receive` has bytes, or the end of the connection. */
  readable(): void;
  /** All written bytes have been sent. */
  drained(): void;
  /** The connection broke during a write. */
  broken(): void;
}
