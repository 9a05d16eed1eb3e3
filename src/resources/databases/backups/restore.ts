// Restores a backup or an instant to a new cluster, and clones a cluster. The source is only read.
import { invalid, notFound, type FieldErrors } from "../../../api/jsonapi/errors.ts";
import { replayedOr } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import type { Origin } from "../../../contracts/instance-spec.ts";
import type { RestoreTarget } from "../../../contracts/keeper.ts";
import { newId } from "../../../lib/ids.ts";
import type { Transaction } from "../../../store/database.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { findArchive } from "../../shared/backups/archives.ts";
import { refuseAsSource, refuseUnmasked } from "../../shared/backups/origin.ts";
import { planOf, refuseFuture } from "../../shared/backups/plan.ts";
import { findSnapshot } from "../../shared/backups/snapshots.ts";
import { createInstance, newLogin, RESTORE_DEADLINE_SECONDS } from "../../shared/create.ts";
import { inUtc } from "../../shared/moment-field.ts";
import type { NewDatabaseClone, NewDatabaseRestore } from "../../shared/restore-schema.ts";
import type { Made } from "../../shared/routed-resource.ts";
import { allocationOf } from "../allocation.ts";
import { engineFaults } from "../engines.ts";
import { insertMask } from "../masks/store.ts";
import { MAX_DATABASES, newDatabase } from "../schemas/schema.ts";
import { insertDatabase } from "../schemas/store.ts";
import { findDatabaseCluster, insertDatabaseCluster, type DatabaseClusterRow } from "../store.ts";
import { sourceOf, withoutSchedule, type DatabaseSource } from "./policy.ts";

type Request<Body> = OperationRequest<Body, unknown, { id: string }>;

/** What a new cluster begins with. */
interface Copy {
  source: DatabaseSource;
  from: Origin;
  /** The names of the databases in it. */
  databases: readonly string[];
  /** Whether it can be refreshed later. */
  isClone?: true;
  /** What is done to its data before it is available; left out for nothing. */
  mask?: NewDatabaseClone["mask"] & {};
}

/**
 * Restores a snapshot or an instant, also of a deleted cluster.
 * @throws ApiError 404, 409 while its data is not masked, or 422 when it cannot be restored or exceeds a quota.
 */
export async function restoreDatabaseCluster(
  context: KindContext,
  request: Request<NewDatabaseRestore>,
): Promise<Made<DatabaseClusterRow>> {
  const { restore_time: at, database_snapshot_id: snapshot } = request.body;
  const { organizationId } = request.principal;
  return await replayedOr(context.db, request, findDatabaseCluster, async () => {
    const source = await sourceFor(context, organizationId, request.params.id);
    const copy =
      at === undefined
        ? await ofSnapshot(context, source, organizationId, snapshot ?? "")
        : await ofInstant(source, at);
    return await createCopy(context, request, copy);
  });
}

/**
 * Clones a cluster as it is now, or as it was at an instant.
 * @throws ApiError 404, 409 when it has no data to clone, or 422 when it cannot be cloned or exceeds a quota.
 */
export async function cloneDatabaseCluster(
  context: KindContext,
  request: Request<NewDatabaseClone>,
): Promise<Made<DatabaseClusterRow>> {
  const { mask, ...body } = request.body;
  const { organizationId } = request.principal;
  return await replayedOr(context.db, request, findDatabaseCluster, async () => {
    const cluster = await findDatabaseCluster(context.db, organizationId, request.params.id);
    if (cluster === undefined) throw notFound("database cluster");
    const data = await dataOf(context, organizationId, cluster, body.restore_time);
    const copy = { ...data, isClone: true as const, ...(mask && { mask }) };
    // The activity must not keep the SQL.
    return await createCopy(context, { ...request, body }, copy);
  });
}

/** The data of a cluster, of now or of an instant. @throws ApiError 409 when it has none, or 422. */
async function dataOf(
  context: KindContext,
  organizationId: string,
  cluster: DatabaseClusterRow,
  at: string | undefined,
): Promise<Copy> {
  if (at !== undefined) return await ofInstant(await sourceFor(context, organizationId, cluster.id), at);
  refuseAsSource(cluster, "database cluster");
  return { source: sourceOf(cluster), ...ofNow(cluster) };
}

/**
 * The data of a cluster as it is now. A database that is being created may be in the data already; when it is not, its
 * row is deleted once the copy is there.
 */
export function ofNow({ id, schemas }: DatabaseClusterRow): Pick<Copy, "from" | "databases"> {
  const databases = schemas.filter(({ status }) => status !== "deleting").map(({ name }) => name);
  return { from: { instance: id }, databases };
}

/** A cluster, or what is left of it, with its host. */
interface Source {
  id: string;
  host: ServedHost;
  source: DatabaseSource;
  cluster: DatabaseClusterRow | undefined;
}

/** @throws ApiError 404, or 409 while its data is not masked. */
export async function sourceFor(
  { db, hosts }: KindContext,
  organizationId: string,
  id: string,
): Promise<Source> {
  const cluster = await findDatabaseCluster(db, organizationId, id);
  if (cluster !== undefined) {
    refuseUnmasked(cluster, "database cluster");
    return { id, host: hosts.of(cluster.hostId), source: sourceOf(cluster), cluster };
  }
  const archive = await findArchive<DatabaseSource>(db, organizationId, id);
  if (archive === undefined || archive.isPurged) throw notFound("database cluster");
  return { id, host: hosts.of(archive.hostId), source: archive.source, cluster };
}

async function ofSnapshot(
  { db }: KindContext,
  { id, host, source }: Source,
  organizationId: string,
  snapshotId: string,
): Promise<Copy> {
  const field = "database_snapshot_id";
  const snapshot = await findSnapshot(db, organizationId, "databases", snapshotId);
  if (snapshot === undefined || snapshot.archiveId !== id) {
    throw invalid({ [field]: ["There is no such snapshot of this cluster."] });
  }
  if (snapshot.status !== "available") {
    throw invalid({ [field]: [`The snapshot is ${snapshot.status}, so it cannot be restored.`] });
  }
  const { backup } = await planOf(host.driver, id, { target: { backup: snapshotId }, field });
  return { source, from: { archive: id, backup: snapshotId }, databases: backup.databases };
}

/** The data of an instant. @throws ApiError 422 when it cannot be restored. */
export async function ofInstant({ id, host, source, cluster }: Source, asked: string): Promise<Copy> {
  const field = "restore_time";
  refuseFuture(asked, field);
  const at = inUtc(asked);
  const target: RestoreTarget = { at };
  const { backup } = await planOf(host.driver, id, { target, field });
  // The log contains the databases that were made since the backup. It may contain databases that are still being made.
  const since = (cluster?.schemas ?? []).filter(
    ({ status, createdAt }) => status !== "deleting" && createdAt > backup.completedAt && createdAt <= at,
  );
  const databases = [...new Set([...backup.databases, ...since.map(({ name }) => name)])];
  return { source, from: { archive: id, at }, databases };
}

async function createCopy(
  context: KindContext,
  request: Request<{ name: string }>,
  { source, from, databases, isClone, mask }: Copy,
): Promise<Made<DatabaseClusterRow>> {
  const { type, region, engineName, version } = source;
  const faults: FieldErrors = engineFaults(type, version, await context.hosts.forNew().offer());
  if (Object.keys(faults).length > 0) throw invalid({ name: Object.values(faults).flat() });
  const config = withoutSchedule(source.config);
  const asked = { ...request, body: { ...request.body, region } };
  return await createInstance<DatabaseClusterRow>(context, asked, {
    kind: "databases",
    deadlineSeconds: RESTORE_DEADLINE_SECONDS,
    async insert(tx, values) {
      const clone = isClone && { clone: { isMasked: mask !== undefined } };
      const origin = { from, engine: engineName, ...clone, ...(mask && { isMaskPending: true as const }) };
      const order = { type, engineName, version, config, origin };
      const row = await insertDatabaseCluster(tx, { ...values, ...newLogin(context, values.id), ...order });
      if (mask !== undefined) {
        const { sql, database = null } = mask;
        await insertMask(tx, row.id, { sql, database }, context.vault);
      }
      return { ...row, schemas: await insertDatabases(tx, row.id, databases) };
    },
    find: findDatabaseCluster,
    allocationOf,
    allocationFields: { memory: "name", connections: "name" },
  });
}

/** A database whose name the API does not allow has no row; it is in the data all the same. */
export function withRows(names: readonly string[]): string[] {
  return names.filter((name) => newDatabase.safeParse({ name }).success).slice(0, MAX_DATABASES);
}

async function insertDatabases(tx: Transaction, databaseId: string, names: readonly string[]) {
  const made = [];
  for (const name of withRows(names)) {
    const row = await insertDatabase(tx, { id: newId("schema"), databaseId, name });
    if (row !== undefined) made.push(row);
  }
  return made;
}
