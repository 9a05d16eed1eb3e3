// Acts on many connections, spread over time, so that clients that are sent away do not all come back at once.

/** How many a second: all of a large cluster are gone within a few seconds, a few are gone at once. */
const PER_SECOND = 2_500;
const STEP_MS = 20;

/** Resolves when `act` was called for all. */
export async function spreadOut<T>(all: readonly T[], act: (each: T) => void): Promise<void> {
  const perStep = Math.ceil((PER_SECOND * STEP_MS) / 1_000);
  for (let first = 0; first < all.length; first += perStep) {
    if (first > 0) await Bun.sleep(STEP_MS);
    for (const each of all.slice(first, first + perStep)) act(each);
  }
}
