// The rows of WebSocket clusters: every SQL statement about them.
import type { Limits, Observation } from "../../contracts/observation.ts";
import type { Database, Queryable, Transaction } from "../../store/database.ts";
import {
  CREATED_AT,
  NO_PROGRESS,
  eraseRow,
  findRow,
  selectOf,
  writeProgress,
  type InstanceProgress,
  type InstanceValues,
} from "../shared/rows.ts";
import type { CommonStatus } from "../shared/status.ts";
import { listRows, type ListRequest, type RowPage } from "../shared/lists.ts";
import { APPLICATIONS_OF_SERVER, eraseApplicationsOf, type ApplicationRow } from "./applications/store.ts";
import type {
  ConnectionCount,
  DistributionStrategy,
  WebSocketClusterStatus,
  WebSocketClusterType,
} from "./schema.ts";

/** The customer's order, and the properties that the cluster got at its creation. */
interface WebSocketClusterValues extends InstanceValues {
  type: WebSocketClusterType;
  maxConnections: ConnectionCount;
}

/** A cluster, how far its desired state is in force, and its applications, the oldest first. */
export type WebSocketClusterRow = WebSocketClusterValues &
  InstanceProgress<WebSocketClusterStatus, Limits> & {
    strategy: DistributionStrategy;
    applications: ApplicationRow[];
  };

const SELECT = selectOf(
  "websockets",
  `r.type, r.max_connections as "maxConnections", r.connection_distribution_strategy as strategy,
   ${APPLICATIONS_OF_SERVER} as applications`,
);

/** Adds a cluster in the status `creating`, without applications. */
export async function insertWebSocketCluster(
  tx: Transaction,
  values: WebSocketClusterValues,
): Promise<WebSocketClusterRow> {
  const [row] = await tx<
    { status: WebSocketClusterStatus; strategy: DistributionStrategy; createdAt: string }[]
  >`
    insert into websocket_servers as r (
      id, organization_id, host_id, name, type, region, max_connections, connection_distribution_strategy,
      port, status)
    values (
      ${values.id}, ${values.organizationId}, ${values.hostId}, ${values.name}, ${values.type},
      ${values.region}, ${values.maxConnections}, 'evenly', ${values.port}, 'creating')
    returning status, connection_distribution_strategy as strategy, ${tx.unsafe(CREATED_AT)} as "createdAt"`;
  if (row === undefined) throw new Error("an insert gave no row");
  return { ...values, ...row, ...NO_PROGRESS, applications: [] };
}

/** The organization's cluster with this id. */
export async function findWebSocketCluster(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<WebSocketClusterRow | undefined> {
  return await findRow(db, SELECT, id, organizationId);
}

/** A page of the organization's clusters, the oldest first, and the number of clusters on all pages. */
export async function listWebSocketClusters(
  db: Database,
  search: ListRequest,
): Promise<RowPage<WebSocketClusterRow>> {
  return await listRows(db, "websocket_servers", SELECT, search);
}

/** Any organization's cluster, for the reconciler. */
export async function loadWebSocketCluster(db: Queryable, id: string): Promise<WebSocketClusterRow | null> {
  return (await findRow<WebSocketClusterRow>(db, SELECT, id)) ?? null;
}

/** The clusters of an organization, or of all organizations, that serve by their last status. */
export async function runningWebSocketClusters(
  db: Database,
  organizationId?: string,
): Promise<Pick<WebSocketClusterRow, "id" | "hostId">[]> {
  const wanted = organizationId ?? null;
  return await db<Pick<WebSocketClusterRow, "id" | "hostId">[]>`
    select id, host_id as "hostId" from websocket_servers
    where status in ('available', 'updating')
      and (${wanted}::text is null or organization_id = ${wanted})
    order by id`;
}

/** Gives the cluster another name. */
export async function renameWebSocketCluster(tx: Transaction, id: string, name: string): Promise<void> {
  await tx`update websocket_servers set name = ${name} where id = ${id}`;
}

/** Gives the cluster another number of connections, which its applications then share evenly. */
export async function resizeWebSocketCluster(
  tx: Transaction,
  id: string,
  connections: number,
): Promise<void> {
  await tx`
    update websocket_servers set max_connections = ${connections}, connection_distribution_strategy = 'evenly'
    where id = ${id}`;
}

/** Writes the strategy by which the cluster's applications share its connections. */
export async function setStrategy(
  tx: Transaction,
  id: string,
  strategy: DistributionStrategy,
): Promise<void> {
  await tx`update websocket_servers set connection_distribution_strategy = ${strategy} where id = ${id}`;
}

/** Writes the result of a run. A request to delete that arrived meanwhile stays. */
export async function writeWebSocketClusterStatus(
  tx: Transaction,
  id: string,
  status: CommonStatus<"updating">,
  seen: Observation,
): Promise<void> {
  await writeProgress(tx, "websockets", id, status, seen);
}

/** Removes all rows of a cluster and its applications; only their audit stays. */
export async function eraseWebSocketCluster(tx: Transaction, id: string): Promise<void> {
  await eraseApplicationsOf(tx, id);
  await eraseRow(tx, "websockets", id);
}
