// The charts of a WebSocket cluster, and of an application in it.
import type { Charts } from "../../../console/parts/charts/series.ts";
import type { WebsocketMetrics } from "../../../sdk/index.ts";

export const websocketCharts: Charts<WebsocketMetrics["data"]> = {
  connection_count: { title: "Connections", unit: "count" },
  message_rate: { title: "Messages", unit: "perSecond" },
};
