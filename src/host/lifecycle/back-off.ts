// The restart policy of an engine: at once after its first crash, later and later while it keeps failing.
import { backoffMs } from "../../lib/backoff.ts";

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 30_000;
/** An engine that came up before it crashed will most likely come up again, and its customers wait. */
const LONGEST_RETRY_AFTER_CRASH_MS = 5_000;
/** An engine that ran this long is not in a crash loop. */
const STEADY_MS = 1_000;
/** A failure is forgotten after this time, which is longer than the longest retry and the longest start together. */
const FORGOTTEN_AFTER_MS = 15 * 60_000;
/** A caller waits for a start that is due within this time, and learns of a later start when it happens. */
const LONGEST_HOLD_MS = 500;
/** A waiting client brings the next start forward, but not closer to the failure than this. */
const SHORTEST_PAUSE_MS = 1_000;

/** The time of an event and the chance in it: all that the lifecycle needs from outside. */
export interface Moment {
  /** Milliseconds of a monotonic clock. */
  ms: number;
  date: Date;
  /** From 0 up to but without 1. */
  chance: number;
}

/** The record of failed starts; times as in `Moment.ms`. */
export interface BackOff {
  failures: number;
  failedAtMs: number;
  /** The time of the next start; null when none is due. */
  dueAtMs: number | null;
}

export const NO_FAILURE: BackOff = { failures: 0, failedAtMs: 0, dueAtMs: null };

/** The policy after an engine crashed. @param ranMs how long the engine had run. */
export function afterCrash(backOff: BackOff, ranMs: number, now: Moment): BackOff {
  const failures = ranMs >= STEADY_MS ? 1 : failuresWith(backOff, now);
  const delayMs =
    failures === 1 ? 0 : backoffMs(failures, FIRST_RETRY_MS, LONGEST_RETRY_AFTER_CRASH_MS, now.chance);
  return { failures, failedAtMs: now.ms, dueAtMs: now.ms + delayMs };
}

/** The policy after a failed start. */
export function afterFailure(backOff: BackOff, now: Moment): BackOff {
  const failures = failuresWith(backOff, now);
  const delayMs = backoffMs(failures, FIRST_RETRY_MS, LONGEST_RETRY_MS, now.chance);
  return { failures, failedAtMs: now.ms, dueAtMs: now.ms + delayMs };
}

/** The number of failures in a row with one now. Single failures of an instance that lives for months are no row. */
function failuresWith({ failures, failedAtMs }: BackOff, now: Moment): number {
  return now.ms - failedAtMs > FORGOTTEN_AFTER_MS ? 1 : failures + 1;
}

/**
 * The delay of a start that is requested now, in milliseconds.
 * @param isUrgent whether a client waits for the engine.
 * @returns null when the start is left to the timer.
 */
export function delayOf({ dueAtMs, failedAtMs }: BackOff, isUrgent: boolean, nowMs: number): number | null {
  if (dueAtMs === null) return 0;
  const atMs = isUrgent ? Math.min(dueAtMs, failedAtMs + SHORTEST_PAUSE_MS) : dueAtMs;
  const delayMs = Math.max(0, atMs - nowMs);
  return delayMs > LONGEST_HOLD_MS ? null : delayMs;
}
