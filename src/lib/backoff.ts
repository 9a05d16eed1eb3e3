// How long to wait before the next attempt.

/**
 * Doubles from `firstMs` up to `maxMs`; a part of it is random, so that many failures do not come back in step.
 * @param attempt 1 for the wait after the first failure.
 * @param chance a random number from 0 up to, but not including, 1.
 * @returns milliseconds between half of the step and the whole of it.
 */
export function backoffMs(attempt: number, firstMs: number, maxMs: number, chance = Math.random()): number {
  const stepMs = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(stepMs * (0.5 + chance / 2));
}
