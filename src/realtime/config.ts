// What a realtime server is told: at its start by a file, and while it runs by its control socket.

/** Read once from the file that the process is started with. */
export interface ProcessConfig {
  /** The cluster's id, for logs. */
  id: string;
  /** Where clients connect. */
  address: string;
  port: number;
  /** The unix socket on which the host gives orders. */
  controlSocket: string;
  /** The process's own folder, for what must outlive it. */
  dataDir: string;
  /** Given when clients must speak TLS, as file contents. */
  certificate: { cert: string; key: string } | null;
  /** Whether webhooks may go to addresses that are not public. */
  allowPrivateWebhooks: boolean;
}

/** The wish of the moment; a new one takes the place of the former without a reconnect of anyone whom it does not concern. */
export interface ClusterConfig {
  /** Connections of all applications together. */
  maxConnections: number;
  applications: ApplicationConfig[];
}

export interface ApplicationConfig {
  /** The resource's id. */
  id: string;
  /** Digits, as the URLs of the HTTP API have it. */
  appId: string;
  key: string;
  /** The one that signs first, then those that were rotated out and are still good for a time. */
  secrets: ApplicationSecret[];
  /** Empty allows every origin. */
  allowedOrigins: string[];
  /** How long a connection may be silent before the server asks whether it is alive. */
  pingIntervalSeconds: number;
  /** How long a client waits in silence before it asks the server. */
  activityTimeoutSeconds: number;
  maxMessageBytes: number;
  maxConnections: number;
  clientEventsEnabled: boolean;
  subscriptionCountEnabled: boolean;
  webhooks: WebhookConfig[];
}

export interface ApplicationSecret {
  secret: string;
  /** ISO 8601; null is good for ever. */
  expiresAt: string | null;
}

export interface WebhookConfig {
  url: string;
  eventTypes: WebhookEventType[];
  /** Whether a request may have several events. */
  isBatched: boolean;
  filter?: { channelNameStartsWith?: string; channelNameEndsWith?: string };
}

export type WebhookEventType =
  | "channel_occupied"
  | "channel_vacated"
  | "member_added"
  | "member_removed"
  | "client_event"
  | "cache_miss"
  | "subscription_count";
