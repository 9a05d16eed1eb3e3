// What every later wish about a WebSocket cluster or its applications begins and ends with.
import { notFound } from "../../api/jsonapi/errors.ts";
import type { Transaction } from "../../store/database.ts";
import * as shared from "../shared/desired-state.ts";
import { findApplication, type ApplicationRow } from "./applications/store.ts";
import { findWebSocketCluster, type WebSocketClusterRow } from "./store.ts";

const SERVERS = { kind: "websockets", noun: "WebSocket cluster", find: findWebSocketCluster } as const;

/**
 * Reads the organization's cluster and keeps it as it is until the transaction ends.
 * @throws ApiError 404
 */
export async function lockWebSocketCluster(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<WebSocketClusterRow> {
  return await shared.lockInstance(tx, SERVERS, organizationId, id);
}

/** @throws ApiError 409 when the cluster is being deleted. */
export function refuseDeleting(server: WebSocketClusterRow): void {
  shared.refuseDeleting(server, SERVERS.noun);
}

/**
 * Reads the organization's application and keeps it and its cluster as they are until the transaction ends.
 * @throws ApiError 404
 */
export async function lockApplication(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<{ server: WebSocketClusterRow; application: ApplicationRow }> {
  const found = await findApplication(tx, organizationId, id);
  if (found === undefined) throw notFound("WebSocket application");
  const server = await lockWebSocketCluster(tx, organizationId, found.serverId);
  // Whoever had the lock before may have deleted it.
  const application = server.applications.find((each) => each.id === id);
  if (application === undefined) throw notFound("WebSocket application");
  return { server, application };
}

/** Has the cluster's reconciler make the wish true, and says that it is not yet. */
export async function enqueueWebSocketCluster(tx: Transaction, server: WebSocketClusterRow): Promise<void> {
  await shared.enqueueChange(tx, "websockets", server);
}
