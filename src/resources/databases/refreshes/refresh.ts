// Refreshes a clone from its parent: one transaction with the desired state, the work item and the audit.
import { ApiError, notFound } from "../../../api/jsonapi/errors.ts";
import { createOnce, replayedOr } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import { newId } from "../../../lib/ids.ts";
import type { Transaction } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { parentOf, refuseUnmasked } from "../../shared/backups/origin.ts";
import { enqueueChange, lockInstance, refuseDeleting } from "../../shared/desired-state.ts";
import { changed, recordRequest } from "../../shared/events/record.ts";
import type { DatabaseRefresh } from "../../shared/restore-schema.ts";
import type { Made } from "../../shared/routed-resource.ts";
import { keepsLog } from "../backups/policy.ts";
import { ofInstant, ofNow, sourceFor, withRows } from "../backups/restore.ts";
import { CLUSTERS } from "../change.ts";
import { findDatabaseCluster, type DatabaseClusterRow } from "../store.ts";
import { enqueueRefresh, insertRefresh, isUnderWay, type StoredRefresh } from "./store.ts";

type Request = OperationRequest<DatabaseRefresh, unknown, { id: string }>;
type Data = Pick<StoredRefresh, "from" | "databases">;

/**
 * Has a clone get the data of its parent, of now or of an instant.
 * @throws ApiError 404, 409 when it cannot be refreshed, or 422 when the instant cannot be restored.
 */
export async function refreshDatabaseCluster(
  context: KindContext,
  request: Request,
): Promise<Made<DatabaseClusterRow>> {
  const { principal, idempotency, params } = request;
  const { organizationId } = principal;
  const { id } = params;
  return await replayedOr(context.db, request, findDatabaseCluster, async () => {
    const data = await dataOfParent(context, organizationId, id, request.body.restore_time);
    return await createOnce(context.db, {
      organizationId,
      kind: CLUSTERS.kind,
      id,
      request: idempotency,
      create: (tx) => begin(tx, request, data),
      find: (tx) => findDatabaseCluster(tx, organizationId, id),
    });
  });
}

async function begin(tx: Transaction, request: Request, data: Data): Promise<DatabaseClusterRow> {
  const { principal, requestId, body, params } = request;
  const { organizationId } = principal;
  const cluster = await lockInstance(tx, CLUSTERS, organizationId, params.id);
  refuseDeleting(cluster, CLUSTERS.noun);
  refuseBusy(cluster);
  const startedAt = new Date().toISOString();
  await insertRefresh(tx, cluster.id, { id: newId("refresh"), ...data, state: "building", startedAt });
  await enqueueChange(tx, CLUSTERS.kind, cluster);
  await enqueueRefresh(tx, cluster);
  const resource = { type: "databases", id: cluster.id, name: cluster.name } as const;
  const about = { kind: CLUSTERS.kind, details: body, event: changed(resource, ["data"]) };
  await recordRequest(tx, { principal, requestId, action: "refresh", ...about });
  return (await findDatabaseCluster(tx, organizationId, cluster.id)) ?? cluster;
}

/** @throws ApiError 409 */
function refuseBusy({ refresh, status, ...order }: DatabaseClusterRow): void {
  if (isUnderWay(refresh)) throw new ApiError(409, "The cluster is being refreshed already.");
  if (status !== "available")
    throw new ApiError(409, `The cluster is ${status}; it can be refreshed when it is available.`);
  if (keepsLog(order))
    throw new ApiError(
      409,
      "The cluster keeps its log for its own window, which other data would break. Turn that off before a refresh.",
    );
}

/** @throws ApiError 404, 409 when there is no such data, or 422 when the instant cannot be restored. */
async function dataOfParent(
  context: KindContext,
  organizationId: string,
  id: string,
  at: string | undefined,
): Promise<Data> {
  const { db } = context;
  const clone = await findDatabaseCluster(db, organizationId, id);
  if (clone === undefined) throw notFound(CLUSTERS.noun);
  refuseDeleting(clone, CLUSTERS.noun);
  const { origin } = clone;
  if (origin?.clone === undefined) throw new ApiError(409, reasonAgainst(clone));
  const parent = await findDatabaseCluster(db, organizationId, parentOf(origin));
  if (parent === undefined || parent.status === "deleting")
    throw new ApiError(409, "The cluster that it is a clone of was deleted, so it cannot be refreshed.");
  refuseUnmasked(parent, CLUSTERS.noun);
  const { from, databases } =
    at === undefined
      ? ofNow(parent)
      : await ofInstant(await sourceFor(context, organizationId, parent.id), at);
  return { from, databases: withRows(databases) };
}

function reasonAgainst({ id, origin }: DatabaseClusterRow): string {
  const isOwn = origin === null || parentOf(origin) === id;
  return isOwn
    ? "The cluster is no clone, so there is nothing to refresh it from."
    : "The cluster was restored, or cloned by an earlier Pilvi that did not keep its mask. Make a new clone, which can be refreshed.";
}
