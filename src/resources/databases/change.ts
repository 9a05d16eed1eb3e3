// Changes a database cluster: one transaction with the row, the work, and the audit.
import { isDeepStrictEqual } from "node:util";
import { recordAudit } from "../../api/audit.ts";
import { invalid } from "../../api/errors.ts";
import type { OperationRequest } from "../../api/operation.ts";
import type { KindContext } from "../kind.ts";
import { reallocate } from "../shared/quotas.ts";
import { enqueueChange, lockInstance, refuseDeleting } from "../shared/wish.ts";
import { allocationFieldsOf, allocationOf } from "./allocation.ts";
import { configVariants, type DatabaseConfig } from "./configs/index.ts";
import type { DatabaseChange } from "./schema.ts";
import { specOf } from "./spec.ts";
import { findDatabase, updateConfig, type DatabaseRow } from "./store.ts";

export const CLUSTERS = { kind: "databases", noun: "database cluster", find: findDatabase } as const;

/**
 * Writes the change; what the driver is not told of needs nothing to be done by anyone.
 * @throws ApiError 404, 409 when the cluster is being deleted, or 422 naming all that is wrong with the config, or the
 *   quota that it exceeds.
 */
export async function changeDatabase(
  context: KindContext,
  { principal, requestId, body, params }: OperationRequest<DatabaseChange, unknown, { id: string }>,
): Promise<DatabaseRow> {
  const { organizationId } = principal;
  return await context.db.begin(async (tx) => {
    const cluster = await lockInstance(tx, CLUSTERS, organizationId, params.id);
    refuseDeleting(cluster, CLUSTERS.noun);
    const config = changedConfig(cluster, body.config);
    const changed = { ...cluster, config };
    await updateConfig(tx, cluster.id, config);
    if (!isDeepStrictEqual(specOf(changed, context), specOf(cluster, context))) {
      await enqueueChange(tx, CLUSTERS.kind, cluster);
    }
    const about = { kind: CLUSTERS.kind, id: cluster.id, details: { config } };
    await recordAudit(tx, { principal, requestId, action: "update", ...about });
    await reallocate(tx, context.quotas, principal, {
      kind: CLUSTERS.kind,
      id: cluster.id,
      allocation: allocationOf(changed),
      fields: allocationFieldsOf(config),
    });
    return (await findDatabase(tx, organizationId, cluster.id)) ?? changed;
  });
}

/** The config that is to be in force. @throws ApiError 422 */
function changedConfig({ type, config }: DatabaseRow, given: object): DatabaseConfig {
  const variant = configVariants[type];
  const wanted = variant.merge(config, given);
  const errors = variant.check(wanted);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return variant.complete(wanted);
}
