// Creates an application in a WebSocket cluster: one transaction with the row, the work item of the cluster, and the
// audit.
import { ApiError } from "../../../api/jsonapi/errors.ts";
import { createOnce } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import { newId } from "../../../lib/ids.ts";
import { newKey, newPassword } from "../../../lib/secrets.ts";
import type { Transaction } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { recordRequest, type NewEvent } from "../../shared/events/record.ts";
import { enqueueWebSocketCluster, lockWebSocketCluster, refuseDeleting } from "../desired-state.ts";
import { connectionsFor, takeConnections } from "./connections.ts";
import { MAX_APPLICATIONS } from "./fields.ts";
import type { NewApplication } from "./schema.ts";
import { findApplication, insertApplication, type ApplicationRow, type ApplicationValues } from "./store.ts";

/** The noun of applications in the audit and in idempotency keys. */
export const APPLICATION_KIND = "websocketApplications";

/** Creates the requested application, or finds the application that the same Idempotency-Key created before. */
export async function createApplication(
  context: KindContext,
  request: OperationRequest<NewApplication, unknown, { id: string }>,
): Promise<{ row: ApplicationRow; isReplayed: boolean }> {
  const { principal, requestId, body, params } = request;
  const { organizationId } = principal;
  const settings = { clusterId: params.id, settings: body, maxConnections: 1 };
  const values = newApplicationValues(context, settings);
  return await createOnce(context.db, {
    organizationId,
    kind: APPLICATION_KIND,
    id: values.id,
    request: request.idempotency,
    async create(tx) {
      const row = await insertInto(tx, organizationId, values, body.max_connections);
      const event = {
        type: "created" as const,
        resource: applicationOf(row),
        details: { server: params.id },
      };
      const about = { kind: APPLICATION_KIND, details: { ...body, server: params.id }, event };
      await recordRequest(tx, { principal, requestId, action: "create", ...about });
      return row;
    },
    find: (tx, madeId) => findApplication(tx, organizationId, madeId),
  });
}

/** The resource of an application's events. */
export function applicationOf({ id, name }: { id: string; name: string }): NewEvent["resource"] {
  return { type: APPLICATION_KIND, id, name };
}

async function insertInto(
  tx: Transaction,
  organizationId: string,
  values: ApplicationValues,
  wanted: number | undefined,
): Promise<ApplicationRow> {
  const cluster = await lockWebSocketCluster(tx, organizationId, values.clusterId);
  refuseDeleting(cluster);
  if (cluster.applications.length >= MAX_APPLICATIONS) {
    throw new ApiError(409, `A WebSocket cluster has at most ${MAX_APPLICATIONS} applications.`);
  }
  const share = connectionsFor(cluster, cluster.applications, wanted);
  const row = await insertApplication(tx, { ...values, max_connections: share.connections });
  await takeConnections(tx, cluster.id, share);
  await enqueueWebSocketCluster(tx, cluster);
  return (await findApplication(tx, organizationId, row.id)) ?? row;
}

/** All properties of a new application, with a newly generated key and secret. */
export function newApplicationValues(
  { vault }: KindContext,
  request: { clusterId: string; settings: NewApplication; maxConnections: number },
): ApplicationValues {
  const { settings } = request;
  const id = newId("wsa");
  return {
    id,
    clusterId: request.clusterId,
    key: newKey(),
    sealedSecret: vault.seal(newPassword(), id),
    ...settings,
    max_connections: request.maxConnections,
  };
}
