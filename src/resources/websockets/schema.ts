// The shapes of requests for a WebSocket cluster, and of a WebSocket cluster in an answer.
import { z } from "zod";
import { resourceIdentifier } from "../../api/jsonapi/jsonapi.ts";
import { createdAt, metaFields, nameField } from "../shared/fields.ts";
import { enforcedByField, maxProcessesField, totalMemoryField } from "../shared/limits.ts";
import { region } from "../shared/regions.ts";

// Clients of the API import only this file of the slice.
export type {
  ApplicationResource,
  NewApplication,
  NewApplicationBody,
  ApplicationChange,
  SecretRotation,
  SecretRotationBody,
} from "./applications/schema.ts";
export type {
  WatchState,
  WebsocketDebugEvent,
  WebsocketPublishedEvent,
  WebsocketTestEventBody,
} from "./applications/debug/schema.ts";
export type { MetricPeriod, WebsocketApplicationMetrics, WebsocketMetrics } from "./metrics/schema.ts";

export const webSocketClusterStatuses = [
  "creating",
  "updating",
  "available",
  "stopped",
  "deleting",
  "deleted",
  "unknown",
] as const;

export const webSocketClusterTypes = ["builtin"] as const;

/** The numbers of connections that a cluster may have. */
const connectionCounts = [100, 200, 500, 2000, 5000, 10_000] as const;

const distributionStrategies = ["evenly", "custom"] as const;

export type WebSocketClusterStatus = (typeof webSocketClusterStatuses)[number];
export type WebSocketClusterType = (typeof webSocketClusterTypes)[number];
export type ConnectionCount = (typeof connectionCounts)[number];
export type DistributionStrategy = (typeof distributionStrategies)[number];

const type = z.enum(webSocketClusterTypes).meta({
  id: "WebsocketServerType",
  description: "Pilvi's own server, which speaks the Pusher Channels protocol.",
  example: "builtin",
});

const maxConnections = z.literal(connectionCounts).meta({
  id: "WebsocketServerMaxConnections",
  description: "Connections of all applications together.",
  example: 100,
  override: { type: "integer" },
});

const name = nameField("Need not be unique.", "chat");

/** The body of `POST /websocket-servers`. */
export const newWebSocketCluster = z
  .object({ name, type, region, max_connections: maxConnections })
  .meta({ id: "NewWebSocketCluster" });

export type NewWebSocketCluster = z.output<typeof newWebSocketCluster>;
/** The body as clients send it, without the defaults. */
export type NewWebSocketClusterBody = z.input<typeof newWebSocketCluster>;

/** The body of `PATCH /websocket-servers/:id`. */
export const webSocketClusterChange = z
  .object({
    name: name.optional(),
    max_connections: maxConnections.optional().meta({
      description:
        "The new number is split evenly over the applications, also where each had its own number.",
      example: 500,
    }),
  })
  .meta({ id: "WebSocketClusterChange" });

export type WebSocketClusterChange = z.output<typeof webSocketClusterChange>;

const attributes = z
  .object({
    name: z.string().meta({ example: "chat" }),
    type,
    region,
    status: z.enum(webSocketClusterStatuses).meta({
      id: "WebsocketServerStatus",
      description:
        "`available` means that a signed request of every application worked; `updating`, that a change is not yet in force.",
      example: "available",
    }),
    max_connections: maxConnections,
    connection_distribution_strategy: z.enum(distributionStrategies).meta({
      id: "WebsocketConnectionDistributionStrategy",
      description:
        "`evenly` splits the cluster's connections over its applications; `custom` gives each its own number.",
      example: "evenly",
    }),
    hostname: z.string().meta({ description: "The name or address to connect to.", example: "127.0.0.1" }),
    created_at: createdAt,
  })
  .meta({ id: "WebsocketServerAttributes" });

const meta = z
  .object({
    port: z.int().min(1).max(65_535).meta({ description: "The cluster's for life.", example: 20_002 }),
    url: z.string().meta({ description: "Where clients connect.", example: "ws://127.0.0.1:20002" }),
    http_url: z.string().meta({
      description: "Where applications publish.",
      example: "http://127.0.0.1:20002",
    }),
    ...metaFields("cluster", { name: "realtime", version: "0.1.0" }),
    sleep: z
      .object({ state: z.enum(["awake"]) })
      .meta({ description: "WebSocket clusters never sleep.", example: { state: "awake" } }),
    limits: z
      .object({
        max_connections: z.int().min(0),
        total_memory_bytes: totalMemoryField,
        max_processes: maxProcessesField,
        enforced_by: enforcedByField,
      })
      .nullable()
      .meta({
        description: "The limits in force.",
        example: {
          max_connections: 100,
          total_memory_bytes: 824_967_168,
          max_processes: 112,
          enforced_by: "cgroup-v2",
        },
      }),
  })
  .meta({ id: "WebsocketServerMeta", description: "Facts beyond the attributes." });

/** A cluster as answers show it. */
export const webSocketClusterResource = z
  .object({
    id: z.string().meta({ example: "ws-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("websocketServers"),
    attributes,
    relationships: z.object({
      applications: z
        .object({ data: z.array(resourceIdentifier("websocketApplications")) })
        .meta({ description: "The applications of the cluster." }),
    }),
    meta,
  })
  .meta({ id: "WebsocketServer" });

export type WebSocketClusterResource = z.output<typeof webSocketClusterResource>;
