// What can be attached to an environment, and the variables by which the application finds each.
import { useQuery } from "@tanstack/react-query";
import { client } from "../../../console/parts/client.ts";
import type { EnvironmentResource } from "../../../sdk/index.ts";

/** Something to choose. */
interface Attachable {
  id: string;
  /** Such as `orders / main`. */
  label: string;
}

/** A place for an attachment. */
export interface AttachmentSlot {
  /** As the request names it. */
  field: "database_schema_id" | "cache_id" | "websocket_application_id";
  relationship: "database" | "cache" | "websocketApplication";
  label: string;
  /** What a session has to be allowed to see. */
  ability: string;
  variables: readonly string[];
  read: () => Promise<Attachable[]>;
}

const SOCKET_VARIABLES = ["APP_ID", "APP_KEY", "APP_SECRET", "HOST", "PORT", "SCHEME"];

export const SLOTS: readonly AttachmentSlot[] = [
  {
    field: "database_schema_id",
    relationship: "database",
    label: "Database",
    ability: "databases:read",
    variables: [
      "DATABASE_URL",
      "DB_CONNECTION",
      "DB_HOST",
      "DB_PORT",
      "DB_DATABASE",
      "DB_USERNAME",
      "DB_PASSWORD",
    ],
    read: readDatabases,
  },
  {
    field: "cache_id",
    relationship: "cache",
    label: "Cache",
    ability: "caches:read",
    variables: ["REDIS_URL", "REDIS_HOST", "REDIS_PORT", "REDIS_USERNAME", "REDIS_PASSWORD", "CACHE_STORE"],
    read: async () =>
      (await Array.fromAsync(client.caches.all())).map(({ id, attributes: { name } }) => ({
        id,
        label: name,
      })),
  },
  {
    field: "websocket_application_id",
    relationship: "websocketApplication",
    label: "WebSocket application",
    ability: "websockets:read",
    variables: ["REVERB", "PUSHER"].flatMap((prefix) => SOCKET_VARIABLES.map((name) => `${prefix}_${name}`)),
    read: readWebsocketApplications,
  },
];

/** The id of what is attached in a place; null for nothing. */
export function attachedIn({ relationships }: EnvironmentResource, slot: AttachmentSlot): string | null {
  return relationships[slot.relationship].data?.id ?? null;
}

/** What may be attached in a place. */
export function useAttachables(slot: AttachmentSlot, isEnabled: boolean) {
  return useQuery({
    queryKey: ["attachables", slot.field],
    queryFn: slot.read,
    enabled: isEnabled,
    staleTime: 0,
  });
}

async function readDatabases(): Promise<Attachable[]> {
  const found: Attachable[] = [];
  for await (const { data, included = [] } of client.databases.pages({ include: ["databases"] }))
    for (const { id, attributes, relationships } of included) {
      const cluster = data.find((each) => each.id === relationships.database.data.id);
      found.push({ id, label: `${cluster?.attributes.name ?? ""} / ${attributes.name}` });
    }
  return found;
}

async function readWebsocketApplications(): Promise<Attachable[]> {
  const found: Attachable[] = [];
  for await (const { data, included = [] } of client.websockets.pages({ include: ["applications"] }))
    for (const { id, attributes, relationships } of included) {
      const cluster = data.find((each) => each.id === relationships.server.data?.id);
      found.push({ id, label: `${cluster?.attributes.name ?? ""} / ${attributes.name}` });
    }
  return found;
}
