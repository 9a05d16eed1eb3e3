// What an answer says about a database in a cluster.
import type { SchemaResource } from "./schema.ts";
import type { SchemaRow } from "./store.ts";

/** The resource. */
export function renderSchema(schema: SchemaRow): SchemaResource {
  return {
    id: schema.id,
    type: "databaseSchemas",
    attributes: { name: schema.name, status: schema.status, created_at: schema.createdAt },
    relationships: {
      database: { data: { id: schema.databaseId, type: "databases" } },
      environments: { data: [] },
    },
  };
}
