// What every later wish about a WebSocket cluster or its applications begins and ends with.
import { ApiError, notFound } from "../../api/errors.ts";
import { enqueue } from "../../reconciler/queue.ts";
import type { Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";
import { DEADLINE_SECONDS } from "../shared/create.ts";
import { lockRow } from "../shared/rows.ts";
import { findApplication, type ApplicationRow } from "./applications/store.ts";
import { findServer, markUpdating, type ServerRow } from "./store.ts";

/**
 * Reads the organization's cluster and keeps it as it is until the transaction ends.
 * @throws ApiError 404
 */
export async function lockServer(tx: Transaction, organizationId: string, id: string): Promise<ServerRow> {
  await lockRow(tx, "websockets", organizationId, id);
  const server = await findServer(tx, organizationId, id);
  if (server === undefined) throw notFound("WebSocket cluster");
  return server;
}

/** @throws ApiError 409 when the cluster is being deleted. */
export function refuseDeleting({ status }: ServerRow): void {
  if (status === "deleting") throw new ApiError(409, "The WebSocket cluster is being deleted.");
}

/**
 * Reads the organization's application and keeps it and its cluster as they are until the transaction ends.
 * @throws ApiError 404
 */
export async function lockApplication(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<{ server: ServerRow; application: ApplicationRow }> {
  const found = await findApplication(tx, organizationId, id);
  if (found === undefined) throw notFound("WebSocket application");
  const server = await lockServer(tx, organizationId, found.serverId);
  // Whoever had the lock before may have deleted it.
  const application = server.applications.find((each) => each.id === id);
  if (application === undefined) throw notFound("WebSocket application");
  return { server, application };
}

/** Has the cluster's reconciler make the wish true, and says that it is not yet. */
export async function enqueueServer(tx: Transaction, { id, hostId }: ServerRow): Promise<void> {
  await markUpdating(tx, id);
  await notify(tx, "status", id);
  await enqueue(tx, { kind: "websockets", id, hostId, deadlineSeconds: DEADLINE_SECONDS });
}
