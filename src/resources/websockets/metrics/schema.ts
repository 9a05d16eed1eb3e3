// The shape of the metrics of a WebSocket cluster or application in an answer.
import { z } from "zod";

/** The periods of metrics, with their lengths in seconds. */
export const periods = {
  "6h": 21_600,
  "24h": 86_400,
  "3d": 259_200,
  "7d": 604_800,
  "30d": 2_592_000,
} as const;

export type MetricPeriod = keyof typeof periods;

export const periodNames = Object.keys(periods) as [MetricPeriod, ...MetricPeriod[]];

const period = z.enum(periodNames).meta({ id: "MetricPeriod", example: "24h" });

/** The query of the metrics. */
export const metricsQuery = z.object({
  period: period
    .default("6h")
    .meta({ description: "The period of the metrics, which ends now.", example: "24h" }),
});

function seriesOf(label: string, value: number) {
  return z.object({
    labels: z.array(z.string()).meta({ description: "The meanings of the values of `y`.", example: [label] }),
    average: z
      .array(z.number())
      .meta({ description: "Averages over the period; empty without measurements.", example: [value] }),
    data: z.array(z.object({ x: z.iso.datetime(), y: z.array(z.number()) })).meta({
      description: "Averages of successive intervals, each with its start, the oldest first.",
      example: [{ x: "2026-03-15T08:18:00.000Z", y: [value] }],
    }),
  });
}

/** The answer. */
export const metricsDocument = z
  .object({
    data: z.object({
      connection_count: seriesOf("connections", 42),
      message_rate: seriesOf("messages_per_second", 3.5),
    }),
    meta: z.object({ period, available_periods: z.array(period) }),
  })
  .meta({ id: "WebsocketMetrics" });

export type WebsocketMetrics = z.output<typeof metricsDocument>;
