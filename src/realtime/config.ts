// The configuration of a realtime server, from contracts/realtime.ts.
export type { ClusterConfig, ProcessConfig } from "../contracts/realtime.ts";
export type {
  ApplicationSecret,
  Webhook as WebhookConfig,
  WebhookEventType,
  WebSocketApplication as ApplicationConfig,
} from "../contracts/websocket-application.ts";
