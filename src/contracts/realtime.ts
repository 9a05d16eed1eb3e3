// The configuration of a realtime server: from a file at its start, and from its control socket while it runs.
import * as z from "zod/mini";
import { REALTIME_VERSION } from "./versions.ts";
import { webSocketApplicationSchema } from "./websocket-application.ts";

/**
 * The longest message that a server reads from a client. It is above `MAX_MESSAGE_BYTES`, so that an application's own
 * limit answers first, with a clear reason. Each client can make the server keep as much in a message without an end.
 */
export const MAX_PAYLOAD_BYTES = 128 * 1024;

export const processConfigSchema = z.strictObject({
  version: z.literal(REALTIME_VERSION),
  /** The cluster's id, for logs. */
  id: z.string(),
  /** Where clients connect. */
  address: z.string(),
  port: z.int(),
  /** The unix socket on which the host gives orders. */
  controlSocket: z.string(),
  /** The process's own folder, for data that outlives it. */
  dataDir: z.string(),
  /** Given when clients must speak TLS, as file contents. */
  certificate: z.nullable(z.strictObject({ cert: z.string(), key: z.string() })),
  /** Whether webhooks may go to addresses that are not public. */
  allowPrivateWebhooks: z.boolean(),
});

/** Read once, from the file that the process is started with. */
export type ProcessConfig = z.infer<typeof processConfigSchema>;

export const clusterConfigSchema = z.strictObject({
  /** Connections of all applications together. */
  maxConnections: z.int().check(z.positive()),
  applications: z.array(webSocketApplicationSchema),
});

/** The desired state; a new state replaces it, and no client reconnects that the change does not concern. */
export type ClusterConfig = z.infer<typeof clusterConfigSchema>;

const count = z.number();

const figures = {
  connections: count,
  messagesReceived: count,
  messagesSent: count,
  /** Requests of the HTTP API with a valid signature. */
  apiRequests: count,
  slowConsumers: count,
  webhooks: z.strictObject({ delivered: count, failed: count, dropped: count }),
};

/**
 * All but the connections are counted since the cluster or the application was created, over all its processes, and only
 * grow. A power cut or a full disk may set them back.
 */
export const realtimeStatsSchema = z.strictObject({
  /** Of the whole server, with what removed applications have counted. */
  ...figures,
  applications: z.array(z.strictObject({ id: z.string(), ...figures })),
});

/** The counters of a server at this moment. */
export type RealtimeStats = z.infer<typeof realtimeStatsSchema>;
