// Versions as engines have them: numbers with dots.

/** Orders versions by their numbers: negative when `a` is older. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number));
  for (let place = 0; place < Math.max(left?.length ?? 0, right?.length ?? 0); place += 1) {
    const difference = (left?.[place] ?? 0) - (right?.[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The first numbers of a version: two of `10.11.6` are `10.11`. */
export function firstNumbers(version: string, count: number): string {
  return version.split(".", count).join(".");
}
