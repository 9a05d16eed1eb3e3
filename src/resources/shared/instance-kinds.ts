// The kinds whose resources a driver runs as instances.
import type { EventResourceType } from "./event-schema.ts";

/**
 * By kind: its table, the type of its resources in the API, and the prefix of their ids; all are constants, safe in
 * SQL.
 */
export const INSTANCE_KINDS = {
  caches: { table: "caches", type: "caches", prefix: "cache" },
  databases: { table: "databases", type: "databases", prefix: "db" },
  websockets: { table: "websocket_servers", type: "websocketServers", prefix: "ws" },
} as const satisfies Record<string, { table: string; type: EventResourceType; prefix: string }>;

export type InstanceKind = keyof typeof INSTANCE_KINDS;

/** The kind of the resource with this id; undefined for any other id. */
export function kindOfId(id: string): InstanceKind | undefined {
  const kinds = Object.keys(INSTANCE_KINDS) as InstanceKind[];
  return kinds.find((kind) => id.startsWith(`${INSTANCE_KINDS[kind].prefix}-`));
}
