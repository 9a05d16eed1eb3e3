// The shape of metrics in answers.
import { z } from "zod";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The steps between points, and for how long metrics are kept that fine, in seconds. */
const steps = {
  "1m": { seconds: MINUTE, kept: DAY },
  "5m": { seconds: 5 * MINUTE, kept: 7 * DAY },
  "15m": { seconds: 15 * MINUTE, kept: 7 * DAY },
  "30m": { seconds: 30 * MINUTE, kept: 7 * DAY },
  "1h": { seconds: HOUR, kept: 30 * DAY },
  "2h": { seconds: 2 * HOUR, kept: 30 * DAY },
  "1d": { seconds: DAY, kept: 360 * DAY },
} as const;

/** The time from a point of metrics to the next. */
export type MetricStep = keyof typeof steps;

/** The periods of metrics: their lengths in seconds, and their steps unless another is asked for: at most 360 points. */
export const metricPeriods = {
  "6h": { seconds: 6 * HOUR, step: "1m" },
  "24h": { seconds: DAY, step: "5m" },
  "3d": { seconds: 3 * DAY, step: "15m" },
  "7d": { seconds: 7 * DAY, step: "30m" },
  "30d": { seconds: 30 * DAY, step: "2h" },
  "1y": { seconds: 360 * DAY, step: "1d" },
} as const satisfies Record<string, { seconds: number; step: MetricStep }>;

/** A period of metrics. */
export type InstanceMetricPeriod = keyof typeof metricPeriods;

/** The length of a step in seconds. */
export function secondsOfStep(step: MetricStep): number {
  return steps[step].seconds;
}

/** The steps that a period can have: metrics are kept that fine, and it has several points. */
export function stepsOf(period: InstanceMetricPeriod): MetricStep[] {
  const { seconds } = metricPeriods[period];
  const names = Object.keys(steps) as MetricStep[];
  return names.filter((name) => steps[name].seconds < seconds && steps[name].kept >= seconds);
}

export const metricPeriodNames = Object.keys(metricPeriods) as [
  InstanceMetricPeriod,
  ...InstanceMetricPeriod[],
];

const period = z.enum(metricPeriodNames).meta({ id: "InstanceMetricPeriod", example: "24h" });

const step = z
  .enum(Object.keys(steps) as [MetricStep, ...MetricStep[]])
  .meta({ id: "MetricStep", example: "5m" });

/** The query of the metrics. */
export const instanceMetricsQuery = z.object({
  period: period.default("6h").meta({
    description: "How far back the metrics go; `1y` is the last 360 days.",
    example: "24h",
  }),
  step: step.optional().meta({
    description:
      "The time from a point to the next. Metrics are kept by `1m` for 24 hours, by `5m` for 7 days, by `1h` for 30 days and by `1d` for a year. Left out, it is the one that gives the period at most 360 points.",
    example: "1h",
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
    .object({
      data: z.object(series),
      meta: z.object({
        period,
        step: step.meta({ description: "The time from a point to the next." }),
        available_periods: z.array(period),
        available_steps: z.array(step).meta({ description: "The steps that this period can have." }),
      }),
    })
    .meta({ id });
}

export type Lines = z.output<ReturnType<typeof linesSchema>>;
export type Amounts = z.output<ReturnType<typeof amountSchema>>;
