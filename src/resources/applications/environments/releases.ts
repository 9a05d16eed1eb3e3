// The releases of an environment on its host: the last few are kept, so that a rollback builds nothing.
import type { KindContext, ServedHost } from "../../kind.ts";
import { storageExcess } from "../../shared/quotas.ts";
import { servedReleases } from "../deployments/store.ts";
import { recordReleases } from "../storage.ts";
import type { EnvironmentRow } from "./store.ts";

/** How many releases are kept, the current release among them. */
export const KEPT_RELEASES = 5;

/** How many are kept in an organization whose storage is full: the current release, and one to go back to. */
const KEPT_WHEN_FULL = 2;

/**
 * How many of the releases before those are removed, most of them again: a command may need a release while many
 * deployments come.
 */
const REMOVED_AGAIN = 100;

/** Removes the releases that served before the kept ones, and records what the others take. */
export async function pruneReleases(
  { db, quotas }: KindContext,
  host: ServedHost,
  { id, organizationId }: EnvironmentRow,
): Promise<void> {
  const releases = await servedReleases(db, id, KEPT_RELEASES + REMOVED_AGAIN);
  await removeReleases(host, releases.slice(KEPT_RELEASES));
  await recordReleases({ db }, host, id, releases);
  if ((await storageExcess(db, quotas, organizationId)) === null) return;
  await removeReleases(host, releases.slice(KEPT_WHEN_FULL));
  await recordReleases({ db }, host, id, releases);
}

async function removeReleases({ driver }: ServedHost, releases: readonly string[]): Promise<void> {
  // A process that retires may still need a release, which is then removed at its end.
  for (const release of releases) await driver.removeRelease(release).catch(() => undefined);
}
