// How requests find a WebSocket cluster, for the steps that all kinds of instances share.
import type { InstanceSearch } from "../shared/desired-state.ts";
import { findWebSocketCluster, type WebSocketClusterRow } from "./store.ts";

export const webSocketClusterSearch = {
  kind: "websockets",
  noun: "WebSocket cluster",
  find: findWebSocketCluster,
} as const satisfies InstanceSearch<WebSocketClusterRow>;
