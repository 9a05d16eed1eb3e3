// Whether a request is sent again, and after how long. Nothing here checks that a request may be repeated: reads,
// changes, deletes, suspends, cancels, stops, purges and ends of a grace period have the same result a second time,
// options for a passkey have no effect, and every other request carries an Idempotency-Key or says that it is not to be
// sent again after a lost connection or a 503 (`isOnce`).
import { isReset, networkCodeOf } from "./errors.ts";

/** The outcome of one attempt: an answer, or an error without an answer. */
export type Outcome = { response: Response; text: string } | { error: unknown };

/** A pause before the next attempt, with the reason for people. */
export interface Retry {
  afterMs: number;
  reason: string;
}

const MAX_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 250;

/** A server that demands a longer pause than this gets no further attempt. */
const MAX_RETRY_AFTER_SECONDS = 60;

/**
 * Decides about the next attempt.
 * @param attempt 1 for the first.
 * @returns undefined when the outcome stands.
 */
export function retryOf(outcome: Outcome, attempt: number): Retry | undefined {
  if (attempt >= MAX_ATTEMPTS) return undefined;
  const backoffMs = FIRST_PAUSE_MS * 2 ** (attempt - 1);
  if ("error" in outcome) {
    return isLost(outcome.error, attempt)
      ? { afterMs: backoffMs, reason: "the connection was lost" }
      : undefined;
  }
  const { status, headers } = outcome.response;
  if (status !== 429 && status !== 503) return undefined;
  const retryAfterSeconds = secondsOf(headers.get("Retry-After"));
  if (retryAfterSeconds !== undefined && retryAfterSeconds > MAX_RETRY_AFTER_SECONDS) return undefined;
  return {
    afterMs: retryAfterSeconds === undefined ? backoffMs : retryAfterSeconds * 1000,
    reason: status === 429 ? "too many requests" : "Pilvi is not ready",
  };
}

function isLost(error: unknown, attempt: number): boolean {
  const code = networkCodeOf(error);
  if (isReset(code)) return true;
  // A browser does not say why a request got no answer.
  if (code === undefined) return error instanceof TypeError;
  // A refusal of the first attempt is reported at once, as Pilvi is not running; after a lost connection, or an answer
  // that asks to try again, it is being restarted. Commands that wait for something bear the former as well.
  return code === "ECONNREFUSED" && attempt > 1;
}

/** Reads a number of seconds; the header's other form, a date, counts as absent. */
function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d+$/.test(header) ? Number(header) : undefined;
}
