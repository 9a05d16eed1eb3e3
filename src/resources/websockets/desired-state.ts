// The first and the last steps of every change to the desired state of a WebSocket cluster or its applications.
import { notFound } from "../../api/jsonapi/errors.ts";
import type { Transaction } from "../../store/database.ts";
import * as shared from "../shared/desired-state.ts";
import { findApplication, type ApplicationRow } from "./applications/store.ts";
import { webSocketClusterSearch } from "./search.ts";
import type { WebSocketClusterRow } from "./store.ts";

/**
 * Reads and locks the organization's cluster until the transaction ends.
 * @throws ApiError 404
 */
export async function lockWebSocketCluster(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<WebSocketClusterRow> {
  return await shared.lockInstance(tx, webSocketClusterSearch, organizationId, id);
}

/** @throws ApiError 409 when the cluster is being deleted. */
export function refuseDeleting(cluster: WebSocketClusterRow): void {
  shared.refuseDeleting(cluster, webSocketClusterSearch.noun);
}

/**
 * Reads the organization's application, and locks it and its cluster until the transaction ends.
 * @throws ApiError 404
 */
export async function lockApplication(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<{ cluster: WebSocketClusterRow; application: ApplicationRow }> {
  const found = await findApplication(tx, organizationId, id);
  if (found === undefined) throw notFound("WebSocket application");
  const cluster = await lockWebSocketCluster(tx, organizationId, found.clusterId);
  // The transaction that had the lock before may have deleted the application.
  const application = cluster.applications.find((each) => each.id === id);
  if (application === undefined) throw notFound("WebSocket application");
  return { cluster, application };
}

/** Enqueues the cluster, and gives it the status of a change that is not in force yet. */
export async function enqueueWebSocketCluster(tx: Transaction, cluster: WebSocketClusterRow): Promise<void> {
  await shared.enqueueChange(tx, "websockets", cluster);
}
