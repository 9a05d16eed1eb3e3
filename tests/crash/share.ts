// The part of a crash matrix or of a random run that there is time for. `.ci/run` takes another part in each turn.

/** The turn of the whole run, from scripts/test.mjs; a test that is run by hand without it takes the first share. */
const turn = Number(process.env.PILVI_TEST_TURN ?? 0);

/** `PILVI_TEST_SHARE=6` takes one of six scenarios; without it, all are run. */
const share = Number(process.env.PILVI_TEST_SHARE ?? 1);

/** Random runs are shortened less than matrices, since a kill matters only when something was under way. */
const MOST_TIMES_SHORTER = 3;

/** The scenarios of a matrix that this run takes, at least one. */
export function shareOf<T>(scenarios: readonly T[]): T[] {
  const parts = Math.max(1, Math.min(share, scenarios.length));
  return scenarios.filter((_, index) => (index + turn) % parts === 0);
}

/** How many kills or seconds of a random run this run takes. Each run has another seed. */
export function shortened(length: number): number {
  return Math.ceil(length / Math.max(1, Math.min(share, MOST_TIMES_SHORTER)));
}
