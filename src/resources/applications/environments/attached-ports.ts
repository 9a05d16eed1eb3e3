// The ports of what is attached to an environment: its processes reach no others on their machine.
import type { Queryable } from "../../../store/database.ts";
import type { Attachments } from "./store.ts";

/** The ports of the instances behind the attachments, read replicas included, in a steady order: another order is no other spec. */
export async function attachedPorts(
  db: Queryable,
  { databaseSchemaId, cacheId, websocketApplicationId }: Attachments,
): Promise<number[]> {
  const rows = await db<{ port: number }[]>`
    select distinct port from instances
    where port is not null and (id = resource_id or kind = 'replicas') and resource_id in (
      select database_id from database_schemas where id = ${databaseSchemaId}
      union all select ${cacheId}::text
      union all select server_id from websocket_applications where id = ${websocketApplicationId})
    order by port`;
  return rows.map(({ port }) => port);
}
