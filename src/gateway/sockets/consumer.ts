// The taker of all bytes that arrive at a socket, such as a splice.

/** Takes the arriving bytes in place of reads. */
export interface Consumer {
  /** @param bytes belong to the consumer from then on. */
  received(bytes: Uint8Array): void;
  /** The peer sends nothing more; all its bytes have been passed on. */
  ended(): void;
  /** All written bytes have been sent. */
  drained(): void;
  /** Nothing can be written any more. Bytes that the peer has sent before may still follow, and then the end. */
  broken(): void;
}
