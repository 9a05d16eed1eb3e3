// Who takes what arrives at a socket as it comes, such as a splice.

/** Takes what arrives in place of reads. */
export interface Consumer {
  /** There is something to `receive`, be it the end. */
  readable(): void;
  /** All that was written has been sent. */
  drained(): void;
  /** The connection broke while it was written to. */
  broken(): void;
}
