// The charts of a WebSocket cluster, and of an application in it.
import type { Charts } from "../../../console/parts/charts/series.ts";
import type { WebsocketApplicationMetrics, WebsocketMetrics } from "../../../sdk/index.ts";

/** An application has no process of its own. */
const common: Charts<WebsocketApplicationMetrics["data"]> = {
  connection_count: { title: "Connections", unit: "count" },
  message_rate: { title: "Messages", unit: "perSecond" },
  messages: { title: "Messages by direction", unit: "perSecond", lines: ["Received", "Sent"] },
  api_requests: { title: "Requests of the HTTP API", unit: "perSecond" },
  webhooks: { title: "Webhooks", unit: "perSecond", lines: ["Delivered", "Failed", "Given up"] },
};

export const applicationCharts = common;

export const websocketCharts: Charts<WebsocketMetrics["data"]> = {
  ...common,
  cpu_usage: { title: "Processor", unit: "share", lines: ["Of one processor"] },
  memory_usage: { title: "Memory", unit: "bytes" },
  storage_usage: { title: "Disk", unit: "bytes", holdsAsleep: true },
};
