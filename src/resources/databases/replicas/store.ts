// The rows of read replicas, which are side instances of their cluster.
import type { Queryable, Transaction } from "../../../store/database.ts";
import { notify } from "../../../store/notifications.ts";
import type { PortOffer } from "../../shared/ports.ts";
import {
  closeSideWork,
  enqueueSideWork,
  eraseSideInstance,
  insertSideInstance,
  sideInstancesSql,
  type GrowingCluster,
  type OwnerCluster,
} from "../side-instances.ts";

/** The kind of replicas in the work queue, where the id is that of their cluster. */
export const REPLICAS = "replicas";

/** The replicas of the cluster `r` of an outer statement, as JSON, the oldest first. */
export const REPLICAS_OF_CLUSTER = sideInstancesSql(REPLICAS);

/** Why the latest run of the replicas of the cluster `r` was not done, as SQL. */
export const REPLICAS_ERROR = `(select last_error from work where kind = '${REPLICAS}' and id = r.id)`;

/** Has the reconciler look at the replicas of a cluster. */
export async function enqueueReplicas(tx: Queryable, cluster: OwnerCluster): Promise<void> {
  await enqueueSideWork(tx, REPLICAS, cluster);
}

/** Has the reconciler find that the cluster is gone; there need not have been replicas. */
export async function closeReplicas(tx: Transaction, id: string): Promise<void> {
  await closeSideWork(tx, REPLICAS, id);
}

/**
 * Gives a new replica its port, unless its cluster is being deleted.
 * @throws PortQuotaExceeded, PortsTaken, ApiError as `takePort` does.
 */
export async function insertReplica(
  tx: Transaction,
  cluster: GrowingCluster,
  id: string,
  offer: PortOffer,
): Promise<void> {
  if (await insertSideInstance(tx, cluster, { id, kind: REPLICAS }, offer))
    await notify(tx, "status", cluster.id);
}

/** Removes the row of a replica of which nothing is left. */
export async function eraseReplica(tx: Transaction, clusterId: string, id: string): Promise<void> {
  await eraseSideInstance(tx, clusterId, id);
  await notify(tx, "status", clusterId);
}
