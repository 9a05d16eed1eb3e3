// The period of metrics and their form on the page, both of which live in the address.
import type { InstanceMetricPeriod } from "../../../sdk/index.ts";
import { type RawSearch, textIn } from "../page.tsx";

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** The lengths of the periods in seconds. */
const SECONDS = {
  "6h": 6 * HOUR,
  "24h": DAY,
  "3d": 3 * DAY,
  "7d": 7 * DAY,
  "30d": 30 * DAY,
  "1y": 360 * DAY,
} as const satisfies Record<InstanceMetricPeriod, number>;

export type Period = keyof typeof SECONDS;

/** The shortest first. */
export const PERIODS = Object.keys(SECONDS) as [Period, ...Period[]];

export const PERIOD_NAMES: Record<Period, string> = {
  "6h": "6 hours",
  "24h": "24 hours",
  "3d": "3 days",
  "7d": "7 days",
  "30d": "30 days",
  "1y": "1 year",
};

/** The length of a period in seconds. */
export function secondsOf(period: Period): number {
  return SECONDS[period];
}

/** What the address of a page with metrics holds. */
export interface MetricsSearch {
  /** The shortest period when left out. */
  period: Period | undefined;
  /** Charts when left out. */
  metrics: "table" | undefined;
}

export function parseMetricsSearch(raw: RawSearch): MetricsSearch {
  return {
    period: PERIODS.find((period) => period === textIn(raw, "period")),
    metrics: textIn(raw, "metrics") === "table" ? "table" : undefined,
  };
}
