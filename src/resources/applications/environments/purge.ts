// Purges what the edge keeps of the answers of an environment.
import { randomBytes } from "node:crypto";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { writeChange } from "./change.ts";
import type { EdgeCachePurge } from "./schema.ts";
import type { EnvironmentRow } from "./store.ts";

const PURGE_BYTES = 16;

/**
 * Orders that the edge answers with nothing that it has kept so far: its address has another version from now on.
 * @throws ApiError 404, or 409 when the environment is being deleted.
 */
export async function purgeEdgeCache(
  context: KindContext,
  request: OperationRequest<EdgeCachePurge, unknown, { id: string }>,
): Promise<EnvironmentRow> {
  return await writeChange(context, request, async (_tx, environment) => {
    const purge = randomBytes(PURGE_BYTES).toString("hex");
    const settings = { ...environment.settings, edge_cache_purge: purge };
    return {
      order: { ...environment, settings },
      fields: ["edge_cache"],
      details: request.body,
      action: "purge-edge-cache",
    };
  });
}
