// The deployments that answers about other resources include.
import type { Database } from "../../../store/database.ts";
import { rowsByParts } from "../../shared/rows-by-parts.ts";
import { renderDeployment } from "./render.ts";
import type { DeploymentResource } from "./schema.ts";
import { deploymentsWithIds } from "./store.ts";

/** The deployments with these ids, each once, the newest first. */
export async function* includedDeployments(
  db: Database,
  ids: readonly string[],
): AsyncGenerator<DeploymentResource, void> {
  const rows = rowsByParts(ids.toSorted().toReversed(), (some) => deploymentsWithIds(db, some));
  for await (const row of rows) yield renderDeployment(row);
}
