// The releases of an environment on its host: the last few are kept, so that a rollback builds nothing.
import type { KindContext, ServedHost } from "../../kind.ts";
import { servedReleases } from "../deployments/store.ts";
import type { EnvironmentRow } from "./store.ts";

/** How many releases are kept, the current release among them. */
export const KEPT_RELEASES = 5;

/** How many of the releases before those are looked at; all others were removed by earlier deployments. */
const LOOKED_AT = 3;

/** Removes the releases that served before the kept ones. */
export async function pruneReleases(
  { db }: KindContext,
  { driver }: ServedHost,
  { id }: EnvironmentRow,
): Promise<void> {
  const releases = await servedReleases(db, id, KEPT_RELEASES + LOOKED_AT);
  for (const release of releases.slice(KEPT_RELEASES)) {
    // A process that retires may still need it; a later deployment then removes it.
    await driver.removeRelease(release).catch(() => undefined);
  }
}
