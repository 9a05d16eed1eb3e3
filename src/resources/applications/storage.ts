// The disk that applications take of the storage of their organization: their repositories, and the releases of their
// environments. Both are measured where they change, and the store keeps the sums.
import type { Queryable, Transaction } from "../../store/database.ts";
import type { KindContext, ServedHost } from "../kind.ts";

/** What `allocations` calls them. They belong to no token. */
const KIND = "applications";

/** Measures the repository of an application after commits have come. */
export async function recordRepository(
  { db, repositories }: KindContext,
  applicationId: string,
): Promise<void> {
  const bytes = await (await repositories.of(applicationId)).bytes();
  await db`
    insert into allocations (resource_id, organization_id, kind, memory_bytes, storage_bytes)
    select ${repositoryKey(applicationId)}, organization_id, ${KIND}, 0, ${bytes}
    from applications where id = ${applicationId} for key share
    on conflict (resource_id) do update set storage_bytes = excluded.storage_bytes
    where allocations.storage_bytes <> excluded.storage_bytes`;
}

/** Adds up the releases of an environment that the host has. */
export async function recordReleases(
  { db }: { db: Queryable },
  { driver }: ServedHost,
  environmentId: string,
  releases: readonly string[],
): Promise<void> {
  const found = await Promise.all([...new Set(releases)].map((id) => driver.release(id)));
  const bytes = found.reduce((sum, release) => sum + (release?.bytes ?? 0), 0);
  await db`
    insert into allocations (resource_id, organization_id, kind, memory_bytes, storage_bytes)
    select ${releasesKey(environmentId)}, a.organization_id, ${KIND}, 0, ${bytes}
    from environments e join applications a on a.id = e.application_id
    where e.id = ${environmentId} for key share of e
    on conflict (resource_id) do update set storage_bytes = excluded.storage_bytes
    where allocations.storage_bytes <> excluded.storage_bytes`;
}

/** Returns what the repository of a deleted application took. */
export async function forgetRepository(tx: Transaction, applicationId: string): Promise<void> {
  await tx`delete from allocations where resource_id = ${repositoryKey(applicationId)}`;
}

/** Returns what the releases of a deleted environment took. */
export async function forgetReleases(tx: Transaction, environmentId: string): Promise<void> {
  await tx`delete from allocations where resource_id = ${releasesKey(environmentId)}`;
}

/** The ids of applications and environments are those of their instances as well, whose disk is counted by itself. */
function repositoryKey(applicationId: string): string {
  return `repository-${applicationId}`;
}

function releasesKey(environmentId: string): string {
  return `releases-${environmentId}`;
}
