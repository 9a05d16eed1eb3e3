// Renders a database of a cluster.
import type { DatabaseResource } from "./schema.ts";
import type { DatabaseRow } from "./store.ts";

/** The resource object. */
export function renderDatabase(schema: DatabaseRow): DatabaseResource {
  return {
    id: schema.id,
    type: "databaseSchemas",
    attributes: { name: schema.name, status: schema.status, created_at: schema.createdAt },
    relationships: {
      database: { data: { id: schema.databaseId, type: "databases" } },
      environments: { data: schema.environmentIds.map((id) => ({ id, type: "environments" })) },
    },
  };
}
