// Purges what the edge keeps of the answers of an environment.
import { randomBytes } from "node:crypto";
import { notFound } from "../../../api/jsonapi/errors.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { refuseDeleting } from "../../shared/desired-state.ts";
import { changed, recordRequest } from "../../shared/events/record.ts";
import { enqueueEnvironment, ENVIRONMENTS } from "../work.ts";
import { environmentResourceOf } from "./create.ts";
import type { EdgeCachePurge } from "./schema.ts";
import { findEnvironment, lockEnvironment, updateEnvironment, type EnvironmentRow } from "./store.ts";

const PURGE_BYTES = 16;

/**
 * Orders that the edge answers with nothing that it has kept so far: its address has another version from now on.
 * @throws ApiError 404, or 409 when the environment is being deleted.
 */
export async function purgeEdgeCache(
  { db }: KindContext,
  { principal, requestId, body, params: { id } }: OperationRequest<EdgeCachePurge, unknown, { id: string }>,
): Promise<EnvironmentRow> {
  const { organizationId } = principal;
  return await db.begin(async (tx) => {
    const environment = await lockEnvironment(tx, organizationId, id);
    if (environment === undefined) throw notFound("environment");
    refuseDeleting(environment, "environment");
    const purge = randomBytes(PURGE_BYTES).toString("hex");
    const settings = { ...environment.settings, edge_cache_purge: purge };
    await updateEnvironment(tx, id, { ...environment, settings });
    await enqueueEnvironment(tx, environment);
    const event = changed(environmentResourceOf(environment), ["edge_cache"]);
    const record = {
      principal,
      requestId,
      action: "purge-edge-cache",
      kind: ENVIRONMENTS,
      details: body,
      event,
    };
    await recordRequest(tx, record);
    return (await findEnvironment(tx, organizationId, id)) ?? environment;
  });
}
