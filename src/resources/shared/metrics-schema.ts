// The shape of the metrics of caches and database clusters in answers.
import { z } from "zod";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The periods of metrics: their lengths, and the lengths of their points, in seconds. No period has more than 360. */
export const metricPeriods = {
  "6h": { seconds: 6 * HOUR, step: MINUTE },
  "24h": { seconds: DAY, step: 5 * MINUTE },
  "3d": { seconds: 3 * DAY, step: 15 * MINUTE },
  "7d": { seconds: 7 * DAY, step: 30 * MINUTE },
  "30d": { seconds: 30 * DAY, step: 2 * HOUR },
  "1y": { seconds: 360 * DAY, step: DAY },
} as const;

/** A period of the metrics of caches and database clusters. */
export type InstanceMetricPeriod = keyof typeof metricPeriods;

export const metricPeriodNames = Object.keys(metricPeriods) as [
  InstanceMetricPeriod,
  ...InstanceMetricPeriod[],
];

const period = z.enum(metricPeriodNames).meta({ id: "InstanceMetricPeriod", example: "24h" });

/** The query of the metrics. */
export const instanceMetricsQuery = z.object({
  period: period.default("6h").meta({
    description: "How far back the metrics go; `1y` is the last 360 days.",
    example: "24h",
  }),
});

/** The description of a series that both kinds have. */
export const GATEWAY_CONNECTIONS =
  "Clients that have logged in at the gateway, also those that stay there while the engine sleeps.";

/** Lines over time, each with a label. */
export function linesSchema(description: string, ...labels: string[]) {
  const example = labels.map(() => 1.5);
  return z
    .object({
      labels: z.array(z.string()).meta({ description: "What each value of `y` is.", example: labels }),
      average: z
        .array(z.number())
        .meta({ description: "Over the points; empty when there are none.", example }),
      data: z.array(z.object({ x: z.iso.datetime(), y: z.array(z.number()) })).meta({
        description: "A point for each stretch of time, with its beginning, the oldest first.",
        example: [{ x: "2026-03-15T08:18:00.000Z", y: example }],
      }),
    })
    .meta({ description });
}

/** A single line with a total. */
export function amountSchema(description: string, total: string) {
  return z
    .object({
      data: z.array(z.object({ x: z.iso.datetime(), y: z.number() })).meta({
        description: "A point for each stretch of time, with its beginning, the oldest first.",
        example: [{ x: "2026-03-15T08:18:00.000Z", y: 1_048_576 }],
      }),
      total: z.number().meta({ description: total, example: 1_048_576 }),
    })
    .meta({ description });
}

/** The answer with these series. */
export function metricsDocumentOf<Shape extends z.ZodRawShape>(id: string, series: Shape) {
  return z
    .object({ data: z.object(series), meta: z.object({ period, available_periods: z.array(period) }) })
    .meta({ id });
}

export type Lines = z.output<ReturnType<typeof linesSchema>>;
export type Amounts = z.output<ReturnType<typeof amountSchema>>;
