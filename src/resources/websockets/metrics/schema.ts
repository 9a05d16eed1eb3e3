// The shape of the metrics of a WebSocket cluster or application in an answer.
import type { z } from "zod";
import { linesSchema, metricsDocumentOf, type InstanceMetricPeriod } from "../../shared/metrics-schema.ts";

export type MetricPeriod = InstanceMetricPeriod;

/** What clusters and applications have. */
const common = {
  connection_count: linesSchema("Connected clients.", "connections"),
  message_rate: linesSchema("Messages of clients and publishers, and to clients.", "messages_per_second"),
  messages: linesSchema(
    "Messages of clients and publishers, and messages to clients.",
    "received_per_second",
    "sent_per_second",
  ),
  api_requests: linesSchema("Requests of the HTTP API with a valid signature.", "requests_per_second"),
  webhooks: linesSchema(
    "Webhook requests that were taken, attempts that were not, and requests that were given up.",
    "delivered_per_second",
    "failed_per_second",
    "dropped_per_second",
  ),
};

/** The answer for a cluster. */
export const metricsDocument = metricsDocumentOf("WebsocketMetrics", {
  ...common,
  cpu_usage: linesSchema("Processor time; 1 is all of one processor.", "processors"),
  memory_usage: linesSchema("Memory of all processes.", "bytes"),
  storage_usage: linesSchema("The disk use.", "bytes"),
});

export type WebsocketMetrics = z.output<typeof metricsDocument>;

/** The answer for an application, which has no process of its own. */
export const applicationMetricsDocument = metricsDocumentOf("WebsocketApplicationMetrics", common);

export type WebsocketApplicationMetrics = z.output<typeof applicationMetricsDocument>;
