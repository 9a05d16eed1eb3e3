// Changes and deletes applications of a WebSocket cluster: one transaction with the row, the work item of the cluster,
// and the audit.
import type { OperationRequest } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { changed, recordRequest } from "../../shared/events/record.ts";
import { enqueueWebSocketCluster, lockApplication, refuseDeleting } from "../desired-state.ts";
import { connectionsFor, takeConnections } from "./connections.ts";
import { APPLICATION_KIND, applicationOf } from "./create.ts";
import type { ApplicationChange } from "./schema.ts";
import {
  eraseApplications,
  findApplication,
  settingsOf,
  splitEvenly,
  updateApplication,
  type ApplicationRow,
} from "./store.ts";

type Request<Body> = OperationRequest<Body, unknown, { id: string }>;

/**
 * Writes the change, and enqueues the cluster to apply it.
 * @throws ApiError 404, 409 when the cluster is being deleted, or 422.
 */
export async function changeApplication(
  { db }: KindContext,
  { principal, requestId, body, params: { id } }: Request<ApplicationChange>,
): Promise<ApplicationRow> {
  const { organizationId } = principal;
  return await db.begin(async (tx) => {
    const { cluster, application } = await lockApplication(tx, organizationId, id);
    refuseDeleting(cluster);
    const others = cluster.applications.filter((each) => each.id !== id);
    const wanted = body.max_connections;
    const share = wanted === undefined ? undefined : connectionsFor(cluster, others, wanted);
    const connections = share?.connections ?? application.max_connections;
    const settings = Object.assign(settingsOf(application), body, { max_connections: connections });
    await updateApplication(tx, id, settings);
    if (share !== undefined) await takeConnections(tx, cluster.id, share);
    if (hasMoreThanName(body)) await enqueueWebSocketCluster(tx, cluster);
    const event = changed(applicationOf({ id, name: body.name ?? application.name }), body);
    const about = { kind: APPLICATION_KIND, details: body, event };
    await recordRequest(tx, { principal, requestId, action: "update", ...about });
    return (await findApplication(tx, organizationId, id)) ?? application;
  });
}

/**
 * Removes the application; the cluster closes its connections within moments.
 * @throws ApiError 404
 */
export async function deleteApplication(
  { db }: KindContext,
  { principal, requestId, params: { id } }: Request<unknown>,
): Promise<void> {
  await db.begin(async (tx) => {
    const { cluster, application } = await lockApplication(tx, principal.organizationId, id);
    // The deletion of the cluster removes the application.
    if (cluster.status === "deleting") return;
    await eraseApplications(tx, [id]);
    if (cluster.strategy === "evenly") await splitEvenly(tx, cluster.id);
    await enqueueWebSocketCluster(tx, cluster);
    const details = { name: application.name, server: cluster.id };
    const event = { type: "deleted" as const, resource: applicationOf(application) };
    const about = { kind: APPLICATION_KIND, details, event };
    await recordRequest(tx, { principal, requestId, action: "delete", ...about });
  });
}

/** The running server does not know names. */
function hasMoreThanName({ name: _name, ...others }: ApplicationChange): boolean {
  return Object.keys(others).length > 0;
}
