// The content of one request to a webhook.

export interface Batch {
  /** Grows; unique in a spool. */
  id: number;
  /** The key of its webhook, see `Webhook.key`. */
  webhook: string;
  /** The body of the request, which is signed when it is sent. */
  body: string;
  bytes: number;
  /** The number of events in the body. */
  events: number;
  /**
   * When the first failed attempt began that the batch was part of or waited for, in milliseconds since 1970; null
   * before a failure.
   */
  failingSinceMs: number | null;
}

/** The bytes that wait for delivery in all queues that share this object. */
export interface Waiting {
  bytes: number;
  /** Above it each queue drops its oldest batch. */
  readonly maxBytes: number;
}

/** Counts of batches and attempts. */
export interface WebhookCounters {
  /** Batches that were answered with 2xx. */
  delivered: number;
  /** Attempts without such an answer; the same batch may fail several times. */
  failed: number;
  /** Batches that were given up: they failed for too long, too many waited, or they were refused. */
  dropped: number;
}
