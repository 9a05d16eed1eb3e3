// Which builds are no longer kept: their logs would otherwise fill the disk with the years.
import type { Build } from "../../contracts/builds.ts";

/** The control plane shows logs for a year. */
const KEPT_MS = 366 * 86_400_000;

/** The most ended builds of an environment. */
export const MAX_KEPT_BUILDS = 1_000;

/** The ids of the ended builds that are older than a year, or not among the latest of their environment. */
export function oldBuilds(builds: Iterable<Build>, nowMs: number): string[] {
  const counts = new Map<string, number>();
  const ended = [...builds]
    .flatMap(({ id, environment, endedAt }) => (endedAt === null ? [] : [{ id, environment, endedAt }]))
    .toSorted((a, b) => b.endedAt.localeCompare(a.endedAt));
  return ended
    .filter(({ environment, endedAt }) => {
      const count = (counts.get(environment) ?? 0) + 1;
      counts.set(environment, count);
      return count > MAX_KEPT_BUILDS || nowMs - Date.parse(endedAt) > KEPT_MS;
    })
    .map(({ id }) => id);
}
