// The part of a crash matrix that a run has time for. `.ci/run` takes a share, and another one each day.

const DAY_MS = 24 * 3_600_000;

/** `PILVI_TEST_SHARE=6` takes one of six scenarios; without it, all are run. */
const share = Number(process.env.PILVI_TEST_SHARE ?? 1);

/** The scenarios of a matrix that this run takes, at least one. */
export function shareOf<T>(scenarios: readonly T[]): T[] {
  const parts = Math.max(1, Math.min(share, scenarios.length));
  const today = Math.floor(Date.now() / DAY_MS);
  return scenarios.filter((_, index) => (index + today) % parts === 0);
}
