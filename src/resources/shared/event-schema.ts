// The shape of an event in an answer: the resource, what happened to it, and the time.
import { z } from "zod";
import { resourceIdentifier } from "../../api/jsonapi/jsonapi.ts";
import { hostEventTypes } from "../../contracts/journal.ts";

/** Everything that can happen to a resource. */
export const eventTypes = [
  "created",
  "changed",
  "available",
  "unavailable",
  "restored",
  "restore_failed",
  "refreshed",
  "refresh_failed",
  "backup.verified",
  "backup.verification_failed",
  "backup.lagging",
  "deployed",
  "deployment_failed",
  "command_succeeded",
  "command_failed",
  "deleting",
  "deleted",
  ...hostEventTypes,
] as const;

export type EventType = (typeof eventTypes)[number];

/** The types of resources that have events, each with the ability that shows them. */
export const eventAbilities = {
  caches: "caches:read",
  databases: "databases:read",
  databaseSchemas: "databases:read",
  database_snapshots: "databases:read",
  cache_snapshots: "caches:read",
  websocketServers: "websockets:read",
  websocketApplications: "websockets:read",
  applications: "applications:read",
  environments: "applications:read",
  deployments: "applications:read",
  commands: "applications:read",
} as const;

export type EventResourceType = keyof typeof eventAbilities;

export const eventResourceTypes = Object.keys(eventAbilities) as EventResourceType[];

const resourceIdentifiers = eventResourceTypes.map((type) => resourceIdentifier(type));

const attributes = z
  .object({
    type: z.enum(eventTypes).meta({
      id: "EventType",
      description:
        "`unavailable`, `restore_failed`, `refresh_failed`, `backup.verification_failed` and `failed` have the reason in `details.reason`; `deleting` is the request, `deleted` that nothing is left. `started`, `restarted`, `stopped` and `crashed` are the life of the engine's process.",
      example: "available",
    }),
    occurred_at: z.iso.datetime().meta({
      description: "The time of the event, UTC.",
      example: "2026-03-15T08:18:53.204112Z",
      override: { pattern: undefined },
    }),
    message: z.string().meta({
      description: "The event as a sentence.",
      example: "The cache sessions is available.",
    }),
    resource_name: z
      .string()
      .meta({ description: "The name of the resource at the time of the event.", example: "sessions" }),
    details: z
      .record(z.string(), z.unknown())
      .meta({ description: "Details of the type of event, such as `reason` or `fields`.", example: {} }),
  })
  .meta({ id: "EventAttributes" });

/** An event as answers show it. */
export const eventResource = z
  .object({
    id: z.string().meta({
      description: "Digits; within an organization, a later event has a higher id.",
      example: "184",
    }),
    type: z.literal("events"),
    attributes,
    relationships: z.object({ resource: z.object({ data: z.union(resourceIdentifiers) }) }),
    meta: z.object({
      request_id: z.string().nullable().meta({
        description: "The id of the request that caused the event; null without a request.",
        example: "deploy-7f3a",
      }),
    }),
  })
  .meta({ id: "Event" });

export type EventResource = z.output<typeof eventResource>;
