// The resources that an environment uses: whether its organization has them, and which environments use a resource.
import type { FieldErrors } from "../../../api/jsonapi/errors.ts";
import type { Transaction } from "../../../store/database.ts";
import type { Attachments } from "./store.ts";

/**
 * The errors of attachments, by the fields of the request; empty when the organization has all of them. They cannot be
 * removed before the transaction ends.
 */
export async function attachmentFaults(
  tx: Transaction,
  organizationId: string,
  { databaseSchemaId, cacheId, websocketApplicationId }: Attachments,
): Promise<FieldErrors> {
  const found = await tx<{ field: string; status: string }[]>`
    with database_schema as (
      select 'database_schema_id' as field, s.status from database_schemas s join databases d on d.id = s.database_id
      where s.id = ${databaseSchemaId} and d.organization_id = ${organizationId} for key share of s),
    cache as (
      select 'cache_id' as field, c.status from caches c
      where c.id = ${cacheId} and c.organization_id = ${organizationId} for key share of c),
    websocket_application as (
      select 'websocket_application_id' as field, s.status from websocket_applications w
      join websocket_servers s on s.id = w.server_id
      where w.id = ${websocketApplicationId} and s.organization_id = ${organizationId} for key share of w)
    select * from database_schema union all select * from cache union all select * from websocket_application`;
  const wanted = {
    database_schema_id: databaseSchemaId,
    cache_id: cacheId,
    websocket_application_id: websocketApplicationId,
  };
  const errors: FieldErrors = {};
  for (const [field, id] of Object.entries(wanted)) {
    const fault = id === null ? undefined : faultOf(found.find((each) => each.field === field)?.status);
    if (fault !== undefined) errors[field] = [fault];
  }
  return errors;
}

/** Clients look for these words, and ask again later. */
function faultOf(status: string | undefined): string | undefined {
  switch (status) {
    case undefined:
    case "deleting":
      return "The organization has no resource with this id.";
    case "creating":
    case "restoring":
      return "The resource is still being made: please wait, and try again in a few seconds.";
    default:
      return undefined;
  }
}
