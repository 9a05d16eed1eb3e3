// What is delivered in one request.

export interface Batch {
  /** Grows; unique in a spool. */
  id: number;
  /** Which webhook it is for, see `Webhook.key`. */
  webhook: string;
  /** The body of the request; it is signed when it is sent. */
  body: string;
  bytes: number;
  /** How many events the body has. */
  events: number;
  /** When the first attempt failed that it was or waited for, in milliseconds since 1970; null when none has. */
  failingSinceMs: number | null;
}

/** What waits for delivery in all queues that share it. */
export interface Waiting {
  bytes: number;
  /** Above it each queue drops its oldest. */
  readonly maxBytes: number;
}

/** Of an application, since the process started. */
export interface WebhookCounters {
  /** Batches that were answered with 2xx. */
  delivered: number;
  /** Attempts that were not; the same batch may fail several times. */
  failed: number;
  /** Batches that were given up: too long failing, too many waiting, or refused. */
  dropped: number;
}
