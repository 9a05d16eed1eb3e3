// The rows of WebSocket clusters: every SQL statement about them.
import type { Page } from "../../api/pagination.ts";
import type { Limits, Observation } from "../../drivers/driver.ts";
import type { Database, Queryable, Transaction } from "../../store/database.ts";
import {
  CREATED_AT,
  eraseRow,
  findRow,
  listRows,
  selectOf,
  writeProgress,
  type InstanceFilter,
  type InstanceProgress,
  type InstanceValues,
} from "../shared/rows.ts";
import { APPLICATIONS_OF_SERVER, eraseApplications, type ApplicationRow } from "./applications/store.ts";
import type { ConnectionCount, DistributionStrategy, ServerStatus, ServerType } from "./schema.ts";

/** What the customer ordered and what was decided for it at its creation. */
export interface ServerValues extends InstanceValues {
  type: ServerType;
  maxConnections: ConnectionCount;
}

/** A cluster with how far its wish has come, and its applications, the oldest first. */
export type ServerRow = ServerValues &
  InstanceProgress<ServerStatus, Limits> & {
    strategy: DistributionStrategy;
    applications: ApplicationRow[];
  };

const SELECT = selectOf(
  "websockets",
  `r.type, r.max_connections as "maxConnections", r.connection_distribution_strategy as strategy,
   ${APPLICATIONS_OF_SERVER} as applications`,
);

/** Adds a cluster that is to be created, without applications. */
export async function insertServer(tx: Transaction, values: ServerValues): Promise<ServerRow> {
  const [row] = await tx<{ status: ServerStatus; strategy: DistributionStrategy; createdAt: string }[]>`
    insert into websocket_servers as r (
      id, organization_id, host_id, name, type, region, max_connections, connection_distribution_strategy,
      port, status)
    values (
      ${values.id}, ${values.organizationId}, ${values.hostId}, ${values.name}, ${values.type},
      ${values.region}, ${values.maxConnections}, 'evenly', ${values.port}, 'creating')
    returning status, connection_distribution_strategy as strategy, ${tx.unsafe(CREATED_AT)} as "createdAt"`;
  if (row === undefined) throw new Error("an insert gave no row");
  const progress = { engine: null, limits: null, lastError: null, isOverdue: false };
  return { ...values, ...row, ...progress, applications: [] };
}

/** The organization's cluster with this id. */
export async function findServer(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<ServerRow | undefined> {
  return await findRow(db, SELECT, id, organizationId);
}

/** A page of the organization's clusters, the oldest first, and how many there are on all pages. */
export async function listServers(
  db: Database,
  wish: { organizationId: string; filter: InstanceFilter; page: Page },
): Promise<{ rows: ServerRow[]; total: number }> {
  return await listRows(db, "websockets", SELECT, wish);
}

/** Any organization's cluster, for the reconciler. */
export async function loadServer(db: Queryable, id: string): Promise<ServerRow | null> {
  return (await findRow<ServerRow>(db, SELECT, id)) ?? null;
}

/** The ids of the clusters on a host, of one organization or of all, that were `available` at last. */
export async function runningServers(
  db: Database,
  hostId: string,
  organizationId?: string,
): Promise<string[]> {
  const wanted = organizationId ?? null;
  const rows = await db<{ id: string }[]>`
    select id from websocket_servers
    where host_id = ${hostId} and status in ('available', 'updating')
      and (${wanted}::text is null or organization_id = ${wanted})
    order by id`;
  return rows.map(({ id }) => id);
}

/** Gives the cluster another name. */
export async function renameServer(tx: Transaction, id: string, name: string): Promise<void> {
  await tx`update websocket_servers set name = ${name} where id = ${id}`;
}

/** Gives the cluster another number of connections, to be split evenly. */
export async function resizeServer(tx: Transaction, id: string, connections: number): Promise<void> {
  await tx`
    update websocket_servers set max_connections = ${connections}, connection_distribution_strategy = 'evenly'
    where id = ${id}`;
}

/** Says how the cluster's connections are given to its applications. */
export async function setStrategy(
  tx: Transaction,
  id: string,
  strategy: DistributionStrategy,
): Promise<void> {
  await tx`update websocket_servers set connection_distribution_strategy = ${strategy} where id = ${id}`;
}

/** Writes what came of a run. A wish to delete that arrived meanwhile stays. */
export async function writeServerStatus(
  tx: Transaction,
  id: string,
  status: ServerStatus,
  seen: Observation,
): Promise<void> {
  await writeProgress(tx, "websockets", id, status, seen);
}

/** Removes all that is known of a cluster and its applications; only their audit stays. */
export async function eraseServer(tx: Transaction, id: string): Promise<void> {
  await eraseApplications(tx, id);
  await eraseRow(tx, "websockets", id);
}
