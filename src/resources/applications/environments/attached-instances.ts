// The instances of what is attached to an environment: its processes reach the ports of no others on their machine.
import type { Queryable } from "../../../store/database.ts";
import type { Attachments } from "./store.ts";

/**
 * The ids of the instances behind the attachments, read replicas included, in a steady order: another order is no other
 * spec. An id is never given again, while the port of a deleted instance may pass to another customer.
 */
export async function attachedInstances(
  db: Queryable,
  { databaseSchemaId, cacheId, websocketApplicationId }: Attachments,
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from instances
    where port is not null and (id = resource_id or kind = 'replicas') and resource_id in (
      select database_id from database_schemas where id = ${databaseSchemaId}
      union all select ${cacheId}::text
      union all select server_id from websocket_applications where id = ${websocketApplicationId})
    order by id`;
  return rows.map(({ id }) => id);
}
