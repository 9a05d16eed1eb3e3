// When an engine is started again: at once after its first crash, later and later while it keeps failing.
import { backoffMs } from "../../lib/backoff.ts";

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 30_000;
/** An engine that came up before it ended will most likely do so again, and its customers wait. */
const LONGEST_RETRY_AFTER_CRASH_MS = 5_000;
/** An engine that ran this long is not in a crash loop. */
const STEADY_MS = 1_000;
/** A start that is due so soon is waited for; the others hear of a later one when it happens. */
const LONGEST_HOLD_MS = 500;
/** A client that waits has the engine tried sooner, but no more often than this. */
const SHORTEST_PAUSE_MS = 1_000;

/** When something happens, and the chance in it: all that the lifecycle needs from outside. */
export interface Moment {
  /** Of a clock that is never set, in milliseconds. */
  ms: number;
  date: Date;
  /** From 0 up to but without 1. */
  chance: number;
}

/** What is kept of starts that failed; times as in `Moment.ms`. */
export interface BackOff {
  failures: number;
  failedAtMs: number;
  /** When the next start is due; null when none is. */
  dueAtMs: number | null;
}

export const NO_FAILURE: BackOff = { failures: 0, failedAtMs: 0, dueAtMs: null };

/** The engine ended after it had run for a time. */
export function afterCrash(backOff: BackOff, ranMs: number, now: Moment): BackOff {
  const failures = ranMs >= STEADY_MS ? 1 : backOff.failures + 1;
  const delayMs =
    failures === 1 ? 0 : backoffMs(failures, FIRST_RETRY_MS, LONGEST_RETRY_AFTER_CRASH_MS, now.chance);
  return { failures, failedAtMs: now.ms, dueAtMs: now.ms + delayMs };
}

/** The engine could not be started. */
export function afterFailure({ failures }: BackOff, now: Moment): BackOff {
  const delayMs = backoffMs(failures + 1, FIRST_RETRY_MS, LONGEST_RETRY_MS, now.chance);
  return { failures: failures + 1, failedAtMs: now.ms, dueAtMs: now.ms + delayMs };
}

/**
 * How long a start that is asked for now has to wait, in milliseconds.
 * @param isUrgent whether a client waits for the engine.
 * @returns null when it is left to the timer.
 */
export function delayOf({ dueAtMs, failedAtMs }: BackOff, isUrgent: boolean, nowMs: number): number | null {
  if (dueAtMs === null) return 0;
  const atMs = isUrgent ? Math.min(dueAtMs, failedAtMs + SHORTEST_PAUSE_MS) : dueAtMs;
  const delayMs = Math.max(0, atMs - nowMs);
  return delayMs > LONGEST_HOLD_MS ? null : delayMs;
}
