// How an answer tells an event, and the same as a sentence.
import type { EventResource, EventResourceType } from "../event-schema.ts";
import type { EventRow } from "./list.ts";

const NOUNS: Record<EventResourceType, string> = {
  caches: "cache",
  databases: "database cluster",
  databaseSchemas: "database",
  websocketServers: "WebSocket cluster",
  websocketApplications: "WebSocket application",
};

/** The resource of an answer for an event. */
export function renderEvent(row: EventRow): EventResource {
  const { id, at, type, resourceType, resourceId, resourceName, requestId, details } = row;
  return {
    id,
    type: "events",
    attributes: {
      type,
      occurred_at: at,
      message: `The ${NOUNS[resourceType]} ${resourceName} ${predicateOf(row)}`,
      resource_name: resourceName,
      details,
    },
    relationships: { resource: { data: { type: resourceType, id: resourceId } } },
    meta: { request_id: requestId },
  };
}

function predicateOf({ type, details }: EventRow): string {
  switch (type) {
    case "created":
      return "was created.";
    case "changed":
      return `was changed: ${textsIn(details.fields).join(", ")}.`;
    case "available":
      return "is available.";
    case "unavailable":
      return `is not available. ${textsIn([details.reason]).join()}`;
    case "deleting":
      return "is being deleted.";
    case "deleted":
      return "is deleted.";
  }
}

/** The texts of a member that a later release may have written in another way. */
function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}
