// The rows of instances that a cluster has beside its own: read replicas, and the stages of refreshes.
import { enqueue } from "../../reconciler/queue.ts";
import type { Queryable, Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";
import { sumStorage } from "../shared/allocations.ts";
import { RESTORE_DEADLINE_SECONDS } from "../shared/create.ts";
import { deleteMetricsOf } from "../shared/metrics/roll-up.ts";
import { takePort, type PortOffer } from "../shared/ports.ts";

/** Such an instance; it has a port for its life. */
export interface SideInstance {
  id: string;
  port: number;
}

/** A cluster as its side instances need it. */
export interface OwnerCluster {
  id: string;
  hostId: string;
}

/** A cluster that gets another instance. */
export interface GrowingCluster extends OwnerCluster {
  organizationId: string;
}

/** The instances of a kind of the cluster `r` of an outer statement, as JSON, the oldest first. */
export function sideInstancesSql(kind: string): string {
  return `
  coalesce((
    select json_agg(json_build_object('id', i.id, 'port', i.port) order by i.id)
    from instances i where i.resource_id = r.id and i.kind = '${kind}'), '[]')`;
}

/** Has the reconciler of the kind look at a cluster. */
export async function enqueueSideWork(
  tx: Queryable,
  kind: string,
  { id, hostId }: OwnerCluster,
): Promise<void> {
  await enqueue(tx, { kind, id, hostId, deadlineSeconds: RESTORE_DEADLINE_SECONDS });
}

/** Has the reconciler of the kind find that the cluster is gone; there need not have been work of the kind. */
export async function closeSideWork(tx: Transaction, kind: string, id: string): Promise<void> {
  await tx`update work set run_at = now() where kind = ${kind} and id = ${id}`;
  await notify(tx, "work", id);
}

/**
 * Gives a new instance its port, unless its cluster is being deleted.
 * @returns whether it has a port now. @throws PortQuotaExceeded, PortsTaken, ApiError as `takePort` does.
 */
export async function insertSideInstance(
  tx: Transaction,
  { id: resourceId, organizationId, hostId }: GrowingCluster,
  { id, kind }: { id: string; kind: string },
  offer: PortOffer,
): Promise<boolean> {
  // A request to delete waits for this row, so that its run sees the new instance.
  const rows = await tx`
    select from databases where id = ${resourceId} and status <> 'deleting' for share`;
  if (rows.length === 0) return false;
  await takePort(tx, { id, kind, resourceId, organizationId, hostId }, offer);
  return true;
}

/** Removes the row of an instance of which nothing is left, and its part of the storage of its cluster. */
export async function eraseSideInstance(tx: Transaction, clusterId: string, id: string): Promise<void> {
  await tx`delete from instances where id = ${id}`;
  await deleteMetricsOf(tx, id);
  await sumStorage(tx, clusterId);
}
