// Renders an event for an answer, with a sentence for people.
import type { EventResource, EventResourceType } from "../event-schema.ts";
import type { EventRow } from "./list.ts";

const NOUNS: Record<EventResourceType, string> = {
  caches: "cache",
  databases: "database cluster",
  databaseSchemas: "database",
  database_snapshots: "snapshot",
  cache_snapshots: "snapshot",
  websocketServers: "WebSocket cluster",
  websocketApplications: "WebSocket application",
  applications: "application",
  environments: "environment",
  deployments: "deployment",
  commands: "command of",
};

/** The resource object of an event. */
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

function predicateOf(row: EventRow): string {
  const { type, details } = row;
  switch (type) {
    case "created":
      return "was created.";
    case "changed":
      return `was changed: ${textsIn(details.fields).join(", ")}.`;
    case "available":
      return "is available.";
    case "unavailable":
      return `is not available. ${textsIn([details.reason]).join()}`;
    case "restored":
      return "has its data: the restore is done.";
    case "restore_failed":
      return `could not be restored. ${textsIn([details.reason]).join()}`;
    case "refreshed":
      return "has the data of its parent again.";
    case "refresh_failed":
      return `could not be refreshed. ${textsIn([details.reason]).join()}`;
    case "backup.verified":
      return "was restored to a throw-away copy, in which all is well.";
    case "backup.verification_failed":
      return `has a backup with a fault. ${textsIn([details.reason]).join()}`;
    case "backup.lagging":
      return "has changes that are not backed up yet for more than a minute.";
    case "deployed":
      return "serves a new release.";
    case "deployment_failed":
      return `could not be deployed. ${textsIn([details.reason]).join()}`;
    case "command_succeeded":
      return "succeeded.";
    case "command_failed":
      return `failed. ${textsIn([details.reason]).join()}`;
    case "deleting":
      return "is being deleted.";
    case "deleted":
      return "is deleted.";
    default:
      return processPredicateOf(row);
  }
}

/** The part that the host observed. */
function processPredicateOf({ type, resourceType, details }: EventRow): string {
  const isSnapshot = resourceType === "database_snapshots" || resourceType === "cache_snapshots";
  const reason = textsIn([details.reason]).map((text) => ` ${text}`);
  const texts: Partial<Record<EventRow["type"], string>> = {
    started: "was started.",
    restarted: "was started again.",
    stopped: `was stopped.${reason.join("")}`,
    crashed: "ended unexpectedly.",
    asleep: "fell asleep.",
    awake: `was woken${wakerIn(details)}.`,
    failed: `could not be ${isSnapshot ? "made" : "started"}.${reason.join("")}`,
    out_of_memory: "ran out of memory: what took most was ended.",
    disk_full: "could not be started: the disk of the host is full.",
    gap: "had more events than its host could keep; some are missing here.",
  };
  return texts[type] ?? `had an event of the type ${type}.`;
}

/** A wake whose client has no address comes from Pilvi itself; that of a wake which nobody reported is not known. */
function wakerIn({ user, address }: Record<string, unknown>): string {
  const by = textsIn([user]).map((name) => ` by ${name}`);
  const from = typeof address === "string" ? ` from ${address}` : "";
  return `${by.join("")}${from}`;
}

/** The strings of a member; a later release may have written the member in another shape. */
function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}
