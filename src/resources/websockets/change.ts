// Changes a WebSocket cluster: one transaction with the row, its applications' connections, the work item, and the
// audit.
import type { OperationRequest } from "../../api/operation/operation.ts";
import type { KindContext } from "../kind.ts";
import { changed, recordRequest } from "../shared/events/record.ts";
import { reallocate } from "../shared/quotas.ts";
import { allocationFields, allocationOf } from "./allocation.ts";
import { splitEvenly } from "./applications/store.ts";
import type { WebSocketClusterChange } from "./schema.ts";
import {
  findWebSocketCluster,
  renameWebSocketCluster,
  resizeWebSocketCluster,
  type WebSocketClusterRow,
} from "./store.ts";
import { enqueueWebSocketCluster, lockWebSocketCluster, refuseDeleting } from "./desired-state.ts";

/**
 * Writes the change. A new name enqueues no work item, since the driver does not get it.
 * @throws ApiError 404, 409 when the cluster is being deleted, or 422 when the change exceeds a quota.
 */
export async function changeWebSocketCluster(
  { db, quotas }: KindContext,
  { principal, requestId, body, params }: OperationRequest<WebSocketClusterChange, unknown, { id: string }>,
): Promise<WebSocketClusterRow> {
  const { organizationId } = principal;
  return await db.begin(async (tx) => {
    const cluster = await lockWebSocketCluster(tx, organizationId, params.id);
    refuseDeleting(cluster);
    if (body.name !== undefined) await renameWebSocketCluster(tx, cluster.id, body.name);
    if (body.max_connections !== undefined) {
      await resizeWebSocketCluster(tx, cluster.id, body.max_connections);
      await splitEvenly(tx, cluster.id);
      await enqueueWebSocketCluster(tx, cluster);
    }
    const resource = { type: "websocketServers" as const, id: cluster.id, name: body.name ?? cluster.name };
    const about = { kind: "websockets", details: body, event: changed(resource, body) };
    await recordRequest(tx, { principal, requestId, action: "update", ...about });
    const allocation = allocationOf({ maxConnections: body.max_connections ?? cluster.maxConnections });
    const order = { kind: "websockets" as const, id: cluster.id, allocation, fields: allocationFields };
    await reallocate(tx, quotas, principal, order);
    return (await findWebSocketCluster(tx, organizationId, cluster.id)) ?? cluster;
  });
}
