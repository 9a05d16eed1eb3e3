// Purges what the edge keeps of the answers of an environment.
import type { OperationRequest } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { writeChange } from "./change.ts";
import { newPurge } from "./edge-cache.ts";
import type { EdgeCachePurge } from "./schema.ts";
import type { EnvironmentRow } from "./store.ts";

/**
 * Orders that the edge answers with nothing that it has kept so far: its address has another version from now on.
 * @throws ApiError 404, or 409 when the environment is being deleted.
 */
export async function purgeEdgeCache(
  context: KindContext,
  request: OperationRequest<EdgeCachePurge, unknown, { id: string }>,
): Promise<EnvironmentRow> {
  return await writeChange(context, request, async (_tx, environment) => {
    const settings = { ...environment.settings, edge_cache_purge: newPurge() };
    return {
      order: { ...environment, settings },
      fields: ["edge_cache"],
      details: request.body,
      action: "purge-edge-cache",
    };
  });
}
