// The rows of database clusters: every SQL statement about them.
import type { EngineName } from "../../contracts/engine-names.ts";
import type { Limits } from "../../contracts/observation.ts";
import type { Database, Queryable, Transaction } from "../../store/database.ts";
import {
  CREATED_AT,
  eraseRow,
  findRow,
  LOGIN_COLUMNS,
  NO_PROGRESS,
  selectOf,
  writeProgress,
  type InstanceLogin,
  type InstanceProgress,
  type InstanceValues,
  type Progress,
} from "../shared/rows.ts";
import { listRows, type ListRequest, type RowPage } from "../shared/lists.ts";
import { enqueueArchiveOf } from "../shared/backups/archives.ts";
import { firstStatusOf, type StoredOrigin } from "../shared/backups/origin.ts";
import type { DatabaseConfig } from "./configs/index.ts";
import type { DatabaseClusterStatus } from "./schema.ts";
import { closeRefreshes, STAGES_OF_CLUSTER, type StoredRefresh } from "./refreshes/store.ts";
import type { SideInstance } from "./side-instances.ts";
import { closeReplicas, REPLICAS_ERROR, REPLICAS_OF_CLUSTER } from "./replicas/store.ts";
import { eraseDatabasesOf, SCHEMAS_OF_CLUSTER, type DatabaseRow } from "./schemas/store.ts";
import type { DatabaseType } from "./types.ts";

/** The customer's order, and the properties that the cluster got at its creation. */
interface DatabaseClusterValues extends InstanceValues, InstanceLogin {
  type: DatabaseType;
  /** The chosen engine, for life. */
  engineName: EngineName;
  /** Its major version, such as `17` or `10.11`, for life. */
  version: string;
  config: DatabaseConfig;
  /** Where its first data is from; null for a cluster that began empty. */
  origin: StoredOrigin | null;
}

/** A cluster, how far its desired state is in force, and its databases and replicas, the oldest first. */
export type DatabaseClusterRow = DatabaseClusterValues &
  InstanceProgress<DatabaseClusterStatus, Limits> & {
    schemas: DatabaseRow[];
    replicas: SideInstance[];
    /** Why the latest run of its replicas was not done. */
    replicasError: string | null;
    /** The latest refresh; null before the first. */
    refresh: StoredRefresh | null;
    /** The instances in which the data of refreshes is made. */
    stages: SideInstance[];
  };

const SELECT = selectOf(
  "databases",
  `${LOGIN_COLUMNS}, r.type, r.engine_name as "engineName", r.version, r.config, r.origin, ${SCHEMAS_OF_CLUSTER} as schemas,
   ${REPLICAS_OF_CLUSTER} as replicas, ${REPLICAS_ERROR} as "replicasError", r.refresh, ${STAGES_OF_CLUSTER} as stages`,
);

/** Adds a cluster in the status `creating`, or `restoring` when it has an origin, without databases. */
export async function insertDatabaseCluster(
  tx: Transaction,
  values: DatabaseClusterValues,
): Promise<DatabaseClusterRow> {
  const [row] = await tx<{ status: DatabaseClusterStatus; createdAt: string }[]>`
    insert into databases as r (
      id, organization_id, host_id, name, type, region, engine_name, version, config, origin, port, username,
      sealed_password, status)
    values (
      ${values.id}, ${values.organizationId}, ${values.hostId}, ${values.name}, ${values.type},
      ${values.region}, ${values.engineName}, ${values.version}, ${values.config}::json, ${values.origin}::jsonb, ${values.port},
      ${values.username}, ${values.sealedPassword}, ${firstStatusOf(values.origin)})
    returning status, ${tx.unsafe(CREATED_AT)} as "createdAt"`;
  if (row === undefined) throw new Error("an insert gave no row");
  const none = { schemas: [], replicas: [], replicasError: null, refresh: null, stages: [] };
  return { ...values, ...row, ...NO_PROGRESS, ...none };
}

/** The organization's cluster with this id. */
export async function findDatabaseCluster(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<DatabaseClusterRow | undefined> {
  return await findRow(db, SELECT, id, organizationId);
}

/** A page of the organization's clusters, the oldest first, and the number of clusters on all pages. */
export async function listDatabaseClusters(
  db: Database,
  search: ListRequest,
): Promise<RowPage<DatabaseClusterRow>> {
  return await listRows(db, "databases", SELECT, search);
}

/** Any organization's cluster, for the reconciler. */
export async function loadDatabaseCluster(db: Queryable, id: string): Promise<DatabaseClusterRow | null> {
  return (await findRow<DatabaseClusterRow>(db, SELECT, id)) ?? null;
}

/** Gives the cluster another config. */
export async function updateConfig(tx: Transaction, id: string, config: DatabaseConfig): Promise<void> {
  await tx`update databases set config = ${config}::json where id = ${id}`;
}

/** Writes the result of a run. A request to delete that arrived meanwhile stays. */
export async function writeDatabaseClusterStatus(
  tx: Transaction,
  id: string,
  status: DatabaseClusterStatus,
  seen: Progress,
): Promise<void> {
  await writeProgress(tx, "databases", id, status, seen);
}

/** Removes all rows of a cluster and its databases; only their audit and the backups stay. */
export async function eraseDatabaseCluster(tx: Transaction, id: string): Promise<void> {
  await enqueueArchiveOf(tx, id);
  await closeReplicas(tx, id);
  await closeRefreshes(tx, id);
  await eraseDatabasesOf(tx, id);
  await eraseRow(tx, "databases", id);
}
