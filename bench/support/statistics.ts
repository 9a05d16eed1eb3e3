// Medians and percentiles of measured times.

/** The middle of the samples, in their unit. @throws when there are no samples. */
export function median(samples: readonly number[]): number {
  return percentile(samples, 50);
}

/**
 * The smallest sample that the given per cent of all samples do not exceed, in their unit.
 * @throws when there are no samples, because then nothing was measured.
 */
export function percentile(samples: readonly number[], percent: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (value === undefined) throw new Error("nothing was measured");
  return value;
}

/** The mean of the samples, in their unit. */
export function mean(samples: readonly number[]): number {
  if (samples.length === 0) throw new Error("nothing was measured");
  return samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
}
