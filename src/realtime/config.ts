// What a realtime server is told, as contracts/realtime.ts has it.
export type { ClusterConfig, ProcessConfig } from "../contracts/realtime.ts";
export type {
  ApplicationSecret,
  Webhook as WebhookConfig,
  WebhookEventType,
  WebSocketApplication as ApplicationConfig,
} from "../contracts/websocket-application.ts";
