// Changes a database cluster: one transaction with the row, the work item, and the audit.
import { isDeepStrictEqual } from "node:util";
import { ApiError, invalid } from "../../api/jsonapi/errors.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import type { Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { ensureArchive, findArchive } from "../shared/backups/archives.ts";
import { changed, recordRequest } from "../shared/events/record.ts";
import { refuseExcessPorts } from "../shared/port-quota.ts";
import { reallocate } from "../shared/quotas.ts";
import { enqueueChange, lockInstance, refuseDeleting } from "../shared/desired-state.ts";
import { keepsLog, policyOf, sourceOf } from "./backups/policy.ts";
import { isUnderWay } from "./refreshes/store.ts";
import { replicaCountOf } from "./replicas/count.ts";
import { enqueueReplicas } from "./replicas/store.ts";
import { allocationFieldsOf, allocationOf, REPLICAS_FIELD } from "./allocation.ts";
import { configVariants, type DatabaseConfig } from "./configs/index.ts";
import type { DatabaseClusterChange } from "./schema.ts";
import { specOf } from "./spec.ts";
import { findDatabaseCluster, updateConfig, type DatabaseClusterRow } from "./store.ts";

export const CLUSTERS = { kind: "databases", noun: "database cluster", find: findDatabaseCluster } as const;

const LOG_DURING_REFRESH = "The cluster is being refreshed; its window can be turned on when that is done.";

/**
 * Writes the change. A change of members that the driver does not get enqueues no work item.
 * @throws ApiError 404, 409 when the cluster is being deleted, or 422 that names all errors of the config, or the
 * exceeded quota.
 */
export async function changeDatabaseCluster(
  context: KindContext,
  { principal, requestId, body, params }: OperationRequest<DatabaseClusterChange, unknown, { id: string }>,
): Promise<DatabaseClusterRow> {
  const { organizationId } = principal;
  return await context.db.begin(async (tx) => {
    const cluster = await lockInstance(tx, CLUSTERS, organizationId, params.id);
    refuseDeleting(cluster, CLUSTERS.noun);
    const config = changedConfig(cluster, body.config);
    const row = { ...cluster, config };
    await refuseExcessPorts(tx, context.quotas, cluster, {
      wanted:
        replicaCountOf(row) > replicaCountOf(cluster) ? replicaCountOf(row) - cluster.replicas.length : 0,
      field: REPLICAS_FIELD,
    });
    if (isUnderWay(cluster.refresh) && keepsLog(row)) throw new ApiError(409, LOG_DURING_REFRESH);
    await updateConfig(tx, cluster.id, config);
    if (!isDeepStrictEqual(specOf(row, context), specOf(cluster, context))) {
      await enqueueChange(tx, CLUSTERS.kind, cluster);
    }
    if (replicaCountOf(row) !== replicaCountOf(cluster)) await enqueueReplicas(tx, cluster);
    await changeArchive(tx, row);
    const event = changed(
      { type: "databases", id: cluster.id, name: cluster.name },
      changedFields(cluster, body.config),
    );
    const about = { kind: CLUSTERS.kind, details: { config }, event };
    await recordRequest(tx, { principal, requestId, action: "update", ...about });
    await reallocate(tx, context.quotas, principal, {
      kind: CLUSTERS.kind,
      id: cluster.id,
      allocation: allocationOf(row),
      fields: allocationFieldsOf(config),
    });
    return (await findDatabaseCluster(tx, organizationId, cluster.id)) ?? row;
  });
}

/** A cluster that never had backups needs an archive once it has a schedule. */
async function changeArchive(tx: Transaction, row: DatabaseClusterRow): Promise<void> {
  const source = sourceOf(row);
  if (policyOf(row) === null && (await findArchive(tx, row.organizationId, row.id)) === undefined) return;
  await ensureArchive(tx, { ...row, kind: "databases", source });
}

/** The members of a change that the type knows; a client may have written any number of others. */
function changedFields({ type }: DatabaseClusterRow, config: object): string[] {
  const { shape } = configVariants[type].schema;
  const known = Object.keys(shape).filter((name) => Object.hasOwn(config, name));
  return known.map((name) => `config.${name}`);
}

/** The config after the change. @throws ApiError 422 */
function changedConfig({ type, config }: DatabaseClusterRow, given: object): DatabaseConfig {
  const variant = configVariants[type];
  const wanted = variant.merge(config, given);
  const errors = variant.check(wanted);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return variant.complete(wanted);
}
