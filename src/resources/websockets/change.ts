// Changes a WebSocket cluster: one transaction with the row, its applications' connections, the work, and the audit.
import type { OperationRequest } from "../../api/operation.ts";
import type { KindContext } from "../kind.ts";
import { changed, recordRequest } from "../shared/events/record.ts";
import { reallocate } from "../shared/quotas.ts";
import { allocationFields, allocationOf } from "./allocation.ts";
import { splitEvenly } from "./applications/store.ts";
import type { ServerChange } from "./schema.ts";
import { findServer, renameServer, resizeServer, type ServerRow } from "./store.ts";
import { enqueueServer, lockServer, refuseDeleting } from "./wish.ts";

/**
 * Writes the change; a name needs nothing to be done by anyone.
 * @throws ApiError 404, 409 when the cluster is being deleted, or 422 when the change exceeds a quota.
 */
export async function changeServer(
  { db, quotas }: KindContext,
  { principal, requestId, body, params }: OperationRequest<ServerChange, unknown, { id: string }>,
): Promise<ServerRow> {
  const { organizationId } = principal;
  return await db.begin(async (tx) => {
    const server = await lockServer(tx, organizationId, params.id);
    refuseDeleting(server);
    if (body.name !== undefined) await renameServer(tx, server.id, body.name);
    if (body.max_connections !== undefined) {
      await resizeServer(tx, server.id, body.max_connections);
      await splitEvenly(tx, server.id);
      await enqueueServer(tx, server);
    }
    const resource = { type: "websocketServers" as const, id: server.id, name: body.name ?? server.name };
    const about = { kind: "websockets", details: body, event: changed(resource, body) };
    await recordRequest(tx, { principal, requestId, action: "update", ...about });
    const allocation = allocationOf({ maxConnections: body.max_connections ?? server.maxConnections });
    const order = { kind: "websockets" as const, id: server.id, allocation, fields: allocationFields };
    await reallocate(tx, quotas, principal, order);
    return (await findServer(tx, organizationId, server.id)) ?? server;
  });
}
